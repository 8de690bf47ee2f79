"""What runs in the box: the released notebook's set-up, then a student's cells one by one, telling
on a pipe what became of each.

Run as a script by `box`, never imported outside. What a cell changes in Python itself, in numpy or
in the models is put back after it; what it cannot put back ends this process, and `sandbox` begins
another without that cell.
"""

import contextlib
import fcntl
import gc
import json
import os
import pickle
import resource
import signal
import sys
import threading
import types

LIMITED = (
    "RLIMIT_AS",
    "RLIMIT_CPU",
    "RLIMIT_FSIZE",
    "RLIMIT_NPROC",
    "RLIMIT_NOFILE",
    "RLIMIT_CORE",
)
# Python's own modules to keep as they were: what models and students compute with, and what this
# file needs itself
STANDARD = set(
    (
        "builtins ast cmath collections contextlib copy dataclasses decimal fractions functools gc"
        " hashlib itertools json json.decoder json.encoder math operator os random re signal"
        " statistics sys textwrap threading time unicodedata"
    ).split()
)

PLAIN = (str, int, float, bool, type(None))


class Channel:
    """The pipe that leads out: one JSON line a message, each after the word that outside knows this
    process by.
    """

    def __init__(self, fd, word):
        self._fd, self._word, self._pid = fd, word.encode(), os.getpid()

    def send(self, **message):
        if os.getpid() != self._pid:  # a copy that a student's fork left behind
            os._exit(0)
        line = b"\n" + self._word + json.dumps(message).encode() + b"\n"
        try:
            while line:
                line = line[os.write(self._fd, line) :]
        except OSError:
            os._exit(1)


class Kept:
    """Python as it was before the student's first cell, to be put back after each of them.

    `back` uses nothing but syntax until the builtins are themselves again.
    """

    def __init__(self, made):
        self._modules = dict(sys.modules)
        names = ["builtins", *(name for name in self._modules if name != "builtins")]
        self._dicts = [
            (name, self._modules[name].__dict__, _held(name, self._modules[name]))
            for name in names
            if type(self._modules[name]) is types.ModuleType
        ]
        ours = [
            module
            for name, module in self._modules.items()
            if name.split(".")[0] == "fabriclab" or name == "IPython.core.interactiveshell"
        ]
        things = [(thing, module) for module in ours for thing in vars(module).values()]
        classes = {
            thing
            for thing, module in things
            if isinstance(thing, type) and thing.__module__ == module.__name__
        } | {type(made)}
        self._classes = [(thing, set(vars(thing)), _methods(thing)) for thing in classes]
        functions = [thing for thing, _ in things if type(thing) is types.FunctionType]
        functions += [
            value
            for _, _, held in self._classes
            for _, value in held
            if type(value) is types.FunctionType
        ]
        self._functions = [(f, f.__code__, f.__defaults__, f.__kwdefaults__) for f in functions]
        self._signals = {
            number: signal.getsignal(number)
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
        }
        self._limits = {name: resource.getrlimit(getattr(resource, name)) for name in LIMITED}
        self._path, self._environ, self._folder, self._deep = (
            list(sys.path),
            dict(os.environ),
            os.getcwd(),
            sys.getrecursionlimit(),
        )
        self._pieces = (
            sys.settrace,
            sys.setprofile,
            type.__setattr__,
            sys.modules,
            vars(type)["__dict__"].__get__,
        )
        made.last_execution_result = None
        self._made = [
            (live, [(name, value) for name, value in live.items() if type(value) not in PLAIN])
            for live in (vars(made), made._trait_values)
        ]
        self._names, self._named = made.user_ns, list(made.user_ns.items())
        self._methods = {
            name
            for thing in type(made).__mro__
            for name, value in vars(thing).items()
            if type(value) is types.FunctionType
        } - vars(made).keys()
        steps = made.input_transformer_manager
        lists = (
            made.ast_transformers,
            steps.cleanup_transforms,
            steps.line_transforms,
            steps.token_transformers,
            *made.events.callbacks.values(),
        )
        self._steps = [(live, list(live)) for live in lists]
        self._tasks = _tasks()
        os.umask(0o022)

    def back(self):  # noqa: C901  one undoing after the other
        """Put back what was changed; returns the names of what was, or None where this process is
        past mending.
        """
        changed = []
        settrace, setprofile, set_on_class, modules, dict_of = self._pieces
        settrace(None)
        setprofile(None)
        for module, live, held in self._dicts:
            for name, value in held:
                if name not in live or live[name] is not value:
                    live[name] = value
                    changed += [module + "." + name]
        for thing, names, held in self._classes:
            live = dict_of(thing)
            for name, value in held:
                if name not in live or live[name] is not value:
                    set_on_class(thing, name, value)
                    changed += [thing.__name__ + "." + name]
            for name in set(live) - names:  # what was added in front of something inherited
                if any(name in dict_of(base) for base in type.mro(thing)[1:]):
                    type.__delattr__(thing, name)
                    changed += [thing.__name__ + "." + name]
        for function, code, defaults, named in self._functions:
            if (
                function.__code__ is not code
                or function.__defaults__ is not defaults
                or function.__kwdefaults__ is not named
            ):
                function.__code__, function.__defaults__, function.__kwdefaults__ = (
                    code,
                    defaults,
                    named,
                )
                changed += [function.__name__]
        changed += self._shell_back()
        sys.modules = modules
        modules.update(self._modules)
        threading.settrace(None)
        threading.setprofile(None)
        gc.enable()
        sys.setrecursionlimit(self._deep)
        sys.path[:] = self._path
        for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)
        for number, handler in self._signals.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if dict(os.environ) != self._environ:
            os.environ.clear()
            os.environ.update(self._environ)
        try:
            os.chdir(self._folder)
        except OSError:
            return None
        if any(
            resource.getrlimit(getattr(resource, name)) != limit
            for name, limit in self._limits.items()
        ):
            return None
        silence()
        return changed

    def _shell_back(self):
        """The same for IPython's one shell, by which a cell could read or change the source of the
        next.
        """
        changed = []
        for live, held in self._made:
            for name, value in held:
                live[name] = value
        live = self._made[0][0]
        for name in self._methods & live.keys():
            del live[name]
            changed += ["IPython." + name]
        for live, held in self._steps:
            live[:] = held
        for (
            name,
            value,
        ) in (
            self._named
        ):  # what a cell deletes, such as with %reset; what it names anew is its own affair
            if name not in self._names:
                self._names[name] = value
        return changed

    def threads_left(self):
        return _tasks() > self._tasks


def _held(name, module):
    """What to keep of a module: everything of the models and of numpy's front, of others what can
    be called.
    """
    top = name.split(".")[0]
    if top == "fabriclab" or name in ("numpy", "math", "scipy.constants", "sympy"):
        return tuple(
            (key, value) for key, value in vars(module).items() if not key.startswith("__")
        )
    if name in STANDARD or (top in ("numpy", "sympy", "scipy") and name.count(".") == 1):
        return tuple(
            (key, value)
            for key, value in vars(module).items()
            if callable(value) or type(value) is types.ModuleType
        )
    return ()


def _methods(thing):
    kinds = (property, classmethod, staticmethod)
    return tuple(
        (name, value)
        for name, value in vars(thing).items()
        if callable(value) or isinstance(value, kinds)
    )


def _tasks():
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


def silence():
    """Nothing to read, and nowhere for output to pile up."""
    null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    if null > 2:
        os.close(null)
    for name, fd in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        stream = STREAMS.get(fd)
        if stream is None or stream.closed:
            stream = STREAMS[fd] = open(  # noqa: SIM115  kept open
                fd,
                "r" if fd == 0 else "w",
                encoding="utf-8",
                errors="backslashreplace",
                closefd=False,
            )
        setattr(sys, name, stream)


STREAMS = {}


def sweep():
    """End every other process in the box; returns whether that worked. Never called where there is
    no box.
    """
    for _ in range(100):
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        others = [
            int(name)
            for name in os.listdir("/proc")
            if name.isdigit() and int(name) not in (1, os.getpid())
        ]
        if not others:
            return True
        for pid in others:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    return False


def shell():
    """IPython without a kernel: magics, display and top-level await, and neither history nor
    tracebacks.
    """
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Shell(InteractiveShell):
        def _tee(self, channel):
            return contextlib.nullcontext()

        def showtraceback(self, *args, **kwargs):
            pass

        def showsyntaxerror(self, *args, **kwargs):
            pass

        def enable_gui(self, gui=None):
            pass

        def ask_exit(self):
            raise SystemExit("exit() or quit()")

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.cache_size = 0
    return Shell.instance(config=config)


class Late:
    """The clock of a cell: KeyboardInterrupt in the student's code once `seconds` are over."""

    def __init__(self, seconds):
        self.seconds, self.over = seconds, False

    def __enter__(self):
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        return self

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number, frame):
        self.over = True
        raise KeyboardInterrupt


def describe(error):
    """An exception in a few words, whatever it does when looked at."""
    try:
        name = type.__dict__["__name__"].__get__(type(error))[:60]
        text = " ".join(str(error).split())[:200]
        return name + ": " + text if text else name
    except BaseException:
        return "an exception that cannot be looked at"


def run(made, source, clock):
    """Run one cell; returns what went wrong, in words, or ""."""
    error = None
    try:
        with clock:
            try:
                result = type(made).run_cell(made, source)
                error = result.error_before_exec or result.error_in_exec
            except BaseException as raised:
                error = raised
            if clock.over:
                return f"ran longer than {clock.seconds:g} s and was stopped"
            return "" if error is None else describe(error)
    except BaseException as raised:
        return (
            f"ran longer than {clock.seconds:g} s and was stopped"
            if clock.over
            else describe(raised)
        )


def limit(wanted):
    for name, most in wanted.items():
        with contextlib.suppress(ValueError, OSError):
            hard = resource.getrlimit(getattr(resource, name))[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(getattr(resource, name), (most, most))


def main():
    job = pickle.loads(sys.stdin.buffer.read())
    channel = Channel(fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 50), job["word"])
    silence()
    limit(job["limits"])
    sys.path[:] = [job["package"], *(entry for entry in sys.path if entry), *job["path"], ""]
    from fabriclab.course.engine.exercises import bank

    bank.SHEET, bank.OWNER = job["sheet"], job["owner"]
    made = shell()
    for source in job["setup"]:
        wrong = run(made, source, Late(60))
        if wrong:
            channel.send(setup=wrong)
            os._exit(1)
    bank.taken = lambda exercise, data: channel.send(check=exercise, data=data)
    bank.noted = lambda name: channel.send(other=name)
    kept = Kept(made)
    channel.send(ready=True)
    for number, source in job["cells"]:
        channel.send(begin=number)
        clock = Late(job["seconds"])
        wrong = run(made, source, clock)
        changed = kept.back()
        if changed is None or (job["boxed"] and not sweep()):
            os._exit(1)
        channel.send(
            end=number, wrong=wrong, late=clock.over, left=kept.threads_left(), changed=changed[:3]
        )
    channel.send(done=True)
    os._exit(0)


if __name__ == "__main__":
    main()
