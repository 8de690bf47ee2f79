"""Call every public function of the models with nonsense, and print what was not refused by name.

Each function's own doctest says what a sensible call looks like; then one argument after another is
replaced by nonsense, and pairs of numbers by arrays whose shapes do not meet. A line is printed for
each call that is not answered by a value without NaN, or by a ValueError or TypeError that starts
with the name of one of the function's own arguments, within a second and 200 MB. Run as a program,
so that the limits can be set and a call that never comes back can be killed.
"""

import dataclasses
import doctest
import importlib
import inspect
import io
import pkgutil
import re
import resource
import signal
import sys
import warnings

import numpy as np

ROOMS = (
    "units catalog link transport reliability collectives topology congestion deadlock cluster"
    " scaleup nccl packets"
).split()
SECONDS, BYTES = 1.0, 200e6
BUILT = ("Topology", "assemble")  # made by fat_tree, torus and their like, never by hand
NONSENSE = [
    np.nan,
    np.inf,
    -np.inf,
    -1,
    0,
    0.5,
    1e-300,
    1e300,
    10**30,
    10**400,
    True,
    None,
    "4 KB",
    "False",
    "no",
    b"1",
    1j,
    {},
    object(),
    len,
    [],
    np.empty(0),
    np.empty((0, 3)),
    [[1], [1, 2]],
    [np.nan],
    ["a", "b"],
    np.ones((4, 1)),
    np.full(3, 10.0**30),
]


def modules(room):
    module = importlib.import_module(f"fabriclab.{room}")
    yield module
    for inner in pkgutil.iter_modules(getattr(module, "__path__", ())):
        yield importlib.import_module(f"fabriclab.{room}.{inner.name}")


def public(room):
    """(name, holder, attribute) of each function, each class that checks what it is given, and each
    method that takes something, of all that the room itself offers.
    """
    offered = vars(importlib.import_module(f"fabriclab.{room}"))
    for module in modules(room):
        for name, thing in list(vars(module).items()):
            if (
                name.startswith("_")
                or offered.get(name) is not thing  # `packets.routes` is a module there
                or name in BUILT
                or getattr(thing, "__module__", None) != module.__name__
            ):
                continue
            if inspect.isfunction(thing) or "__post_init__" in getattr(thing, "__dict__", {}):
                yield f"{room}.{name}", module, name
            for method, what in list(vars(thing).items()) if inspect.isclass(thing) else ():
                if (
                    inspect.isfunction(what)
                    and not method.startswith("_")
                    and len(inspect.signature(what).parameters) > 1
                ):
                    yield f"{room}.{name}.{method}", thing, method


def sensible(holder, name):
    """The arguments of the calls in the function's doctest, as dicts by name; a method's with its
    object.
    """
    function, calls = getattr(holder, name), []
    signature = inspect.signature(
        function.__init__ if inspect.isclass(function) else function, follow_wrapped=True
    )
    if inspect.isclass(function):
        signature = inspect.signature(function)

    def recorder(*args, **kwargs):
        found = function(*args, **kwargs)
        calls.append(dict(signature.bind(*args, **kwargs).arguments))
        return found

    module = sys.modules[getattr(holder, "__module__", None) or holder.__name__]
    globs = dict(vars(module))
    if inspect.isclass(holder):
        setattr(holder, name, recorder)
    else:
        globs[name] = recorder
    try:
        for test in doctest.DocTestFinder(recurse=False).find(
            function, name, module=module, globs=globs
        ):
            doctest.DocTestRunner(verbose=False).run(test, out=io.StringIO().write)
    finally:
        setattr(holder, name, function)
    return function, signature, calls[:2]


def flattened(value):
    if isinstance(value, str) or value is None:
        return
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from flattened(getattr(value, field.name))
    elif isinstance(value, dict):
        yield from flattened(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from flattened(inner)
    else:
        yield value


def late(*_):
    raise TimeoutError(f"more than {SECONDS:g} s")


def complaint(function, arguments, names):
    """What is wrong with the answer to this call; None where nothing is. ("could not read" is the
    reader of quantities, whose one argument is the text that it quotes.)
    """
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        positional = [arguments.pop("self")] if "self" in arguments else []
        more = (
            arguments.pop("options", {}) if isinstance(arguments.get("options", {}), dict) else {}
        )
        found = function(*positional, **arguments, **more)
        if inspect.isgenerator(found):
            found = next(found, None)
        for value in flattened(found):
            if np.asarray(value).dtype.kind == "f" and np.isnan(value).any():
                return "NaN"
    except (ValueError, TypeError) as error:
        if not re.match(rf"({'|'.join(names)}|could not read)\b", str(error)):
            return f"{type(error).__name__}: {str(error)[:90]}"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:90]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def shown(value):
    return " ".join(re.sub(r" at 0x\w+", "", repr(value))[:40].split())


def walk(wanted):
    seen = set()
    for room in ROOMS:
        for label, holder, name in public(room):
            if (wanted and not any(each in label for each in wanted)) or label in seen:
                continue
            seen.add(label)
            function, signature, calls = sensible(holder, name)
            if not calls:
                print(f"{label}\t-\tno sensible call in its doctest", flush=True)
                continue
            names = [
                each
                for each, parameter in signature.parameters.items()
                if each != "self" and parameter.kind is not parameter.VAR_KEYWORD
            ]
            passed_on = ("buffer",) if name == "incast" else ()  # an option of `run`
            for call in calls:
                for odd in names:
                    for value in NONSENSE:
                        wrong = complaint(function, {**call, odd: value}, [*names, *passed_on])
                        if wrong:
                            print(f"{label}\t{odd}={shown(value)}\t{wrong}", flush=True)
            full = {
                each: parameter.default
                for each, parameter in signature.parameters.items()
                if parameter.default is not parameter.empty
            } | calls[0]
            numeric = [
                each
                for each in names
                if isinstance(full.get(each), (int, float)) and not isinstance(full[each], bool)
            ]
            for i, one in enumerate(numeric):
                for other in numeric[i + 1 :]:
                    given = {**calls[0], one: np.full(3, full[one]), other: np.full(2, full[other])}
                    wrong = complaint(function, given, names)
                    if wrong:
                        print(f"{label}\t{one}, {other} of shapes (3,), (2,)\t{wrong}", flush=True)
    print("walked", len(seen), flush=True)


if __name__ == "__main__":
    for room in ROOMS:
        list(modules(room))
    warnings.simplefilter("error")
    signal.signal(signal.SIGPROF, late)
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (int(used + BYTES), resource.RLIM_INFINITY))
    walk(sys.argv[1:])
