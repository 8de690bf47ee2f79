"""What a class might send in the place of one answer: {name: source}. `q4` is the exercise
attacked; none of these earns it.

Those that look for what they must not find answer rightly once they have found it: so a leak shows
as a point. Where a line `# %%` parts one, what is before it stands in a cell before all answers.
Never run these outside a box: some mean it.
"""

FOUND = "q4.check(2 * q4.size)"  # the right answer, given only by an attack that has got somewhere


def searching(test, before=""):
    return f"{before}\nif {test}:\n    {FOUND}"


NEVER_ENDS = {
    "a loop without end": "while True: pass",
    "a loop that swallows interrupts": (
        "while True:\n    try: sum(range(10**5))\n    except BaseException: pass"
    ),
    "a long sleep": "import time; time.sleep(1e6)",
    "one step of C without end": "sum(range(10**13))",
    "a number too large to make": "10**10**8",
    "a regular expression that explodes": "import re; re.match(r'(a+)+$', 'a' * 60 + 'b')",
    "signals blocked, then a loop": (
        "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass"
    ),
    "the alarm taken away, then a loop": (
        "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN);"
        " signal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass"
    ),
    "a shell that sleeps": "!sleep 1000",
    "a bash cell that sleeps": "%%bash\nsleep 1000",
    "an endless answer of await": "import asyncio\nawait asyncio.sleep(1e6)",
    "a subprocess waited for": "import subprocess; subprocess.run(['sleep', '1000'])",
    "a join on a thread without end": (
        "import threading\nt = threading.Thread(target=lambda: [None for _ in iter(int, 1)]);"
        " t.start(); t.join()"
    ),
    "an exception whose text never ends": (
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E"
    ),
    "a repr that never ends": "class R:\n    def __repr__(self):\n        while True: pass\nR()",
    "lists in lists in the clock's way": (
        "import time\nend = time.time() + 1e6\nwhile time.time() < end:\n    try:"
        " time.sleep(0.01)\n    except KeyboardInterrupt: continue"
    ),
}

TAKES_ALL = {
    "memory in one piece": "x = bytearray(64 * 2**30)",
    "memory bit by bit": "x = []\nwhile True: x.append(bytearray(2**24))",
    "memory in many processes": (
        "import os\nfor _ in range(30):\n    if os.fork() == 0:\n        x = bytearray(2**29)\n    "
        "    while True: pass\nwhile True: pass"
    ),
    "an array too large": "import numpy as np; np.ones((10**6, 10**6))",
    "a flood of print": "while True: print('x' * 10**5)",
    "a flood on stderr": "import sys\nwhile True: sys.stderr.write('x' * 10**5)",
    "a flood of display": "while True: display('x' * 10**5)",
    "a flood from a shell": "!yes",
    "a flood on every descriptor": (
        "import os\nwhile True:\n    for fd in range(256):\n        try: os.write(fd, b'x' *"
        " 10**4)\n        except OSError: pass"
    ),
    "a fork bomb": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "forks in the background": (
        "import os\nif os.fork() == 0:\n    while True:\n        try: os.fork()\n        except"
        " OSError: pass"
    ),
    "a bomb of shells": "%%bash\nb() { b | b & }; b; sleep 100",
    "threads without number": (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep,"
        " args=(1e6,)).start()"
    ),
    "busy threads left behind": (
        "import threading\ndef busy():\n    while True: pass\nfor _ in range(200):\n    try:"
        " threading.Thread(target=busy, daemon=True).start()\n    except RuntimeError: break"
    ),
    "the disk in one file": "f = open('big', 'wb')\nwhile True: f.write(b'x' * 2**20)",
    "the disk in many files": (
        "import itertools\nfor i in itertools.count():\n    for place in ('.', '/tmp',"
        " '/dev/shm'):\n        try: open(f'{place}/{i}', 'wb').write(b'x' * 2**20)\n        except"
        " OSError as e: last = e\n    if i > 200: raise last"
    ),
    "all descriptors": "x = []\nwhile True: x.append(open('/dev/null'))",
    "recursion": "def f(): return f()\nf()",
    "recursion without a limit": (
        "import sys; sys.setrecursionlimit(10**9)\ndef f(x): return f([x])\nf(1)"
    ),
    "no memory for anyone after": "import resource; resource.setrlimit(resource.RLIMIT_AS, (1, 1))",
    "no files for anyone after": (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))"
    ),
}

DIES = {
    "os._exit(0)": "import os; os._exit(0)",
    "os._exit(1)": "import os; os._exit(1)",
    "sys.exit": "import sys; sys.exit()",
    "quit": "quit()",
    "exit": "exit",
    "SystemExit": "raise SystemExit(0)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "GeneratorExit": "raise GeneratorExit",
    "input": "x = input('your answer? ')",
    "a crash": "import ctypes; ctypes.string_at(0)",
    "abort": "import os; os.abort()",
    "a kill of itself": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "a kill of its parent": "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
    "a kill of all": "import os, signal; os.kill(-1, signal.SIGKILL)",
    "a stop of all": (
        "import os, signal; os.kill(-1, signal.SIGSTOP); os.kill(os.getpid(), signal.SIGSTOP)"
    ),
    "an exit from a thread, later": (
        "import os, threading; threading.Timer(0.05, os._exit, [0]).start()"
    ),
    "a kill from a process, later": (
        "import subprocess; subprocess.Popen('sleep 0.05; kill -9 -1', shell=True,"
        " start_new_session=True)"
    ),
    "an alarm, later": (
        "import signal; signal.signal(signal.SIGALRM, signal.SIG_DFL);"
        " signal.setitimer(signal.ITIMER_REAL, 0.02)"
    ),
    "a profiling timer, later": "import signal; signal.setitimer(signal.ITIMER_PROF, 0.01)",
    "all descriptors closed": "import os; os.closerange(0, 4096)",
    "another file in the pipe's place": (
        "import os\nfd = os.open('/dev/null', os.O_WRONLY)\nfor n in range(3, 256):\n    try:"
        " os.fstat(n); os.dup2(fd, n)\n    except OSError: pass"
    ),
    "another program in its place": "import os; os.execvp('true', ['true'])",
    "fork, and both go on": "import os; os.fork()",
    "a fault in a __del__": "class D:\n    def __del__(self): raise SystemExit\nd = D(); del d",
    "its own files deleted": (
        "import shutil, os\nfor p in ('/kit', os.path.dirname(os.__file__), os.getcwd()):"
        " shutil.rmtree(p, ignore_errors=True)"
    ),
    "a folder of its own, gone": (
        "import os, shutil; os.mkdir('x'); os.chdir('x'); os.rmdir('../x')"
    ),
    "NUL in the source": "x = '\0'",
    "no Python at all": "this is my answer: 42 GB",
    "marks of a merge": "<<<<<<< HEAD\nanswer = 1\n=======\nanswer = 2\n>>>>>>> mine",
    "half of a surrogate in the source": "x = '\ud800'\nq4.check(x)",
    "%run of itself": "%run /kit/inside.py",
    "%reset": "%config TerminalInteractiveShell.foo = 1",
}

ODD_ANSWERS = {
    "an answer equal to everything": (
        "class A:\n    def __eq__(self, other): return True\n    __hash__ = object.__hash__\n   "
        " def __float__(self): return 2 * q4.size\nq4.check(A())"
    ),
    "a float that lies": (
        "class F(float):\n    def __eq__(self, o): return True\n    def __sub__(self, o): return"
        " 0.0\n    def __abs__(self): return 0.0\nq4.check(F(1))"
    ),
    "text that lies": (
        "class S(str):\n    def __len__(self): return 1\n    def strip(self, *a): return f'{2 *"
        " q4.size / 1e9} GB'\nq4.check(S('x'))"
    ),
    "a class that pretends": (
        "class C:\n    @property\n    def __class__(self): return float\n    def __float__(self):"
        " return 2.0 * q4.size\nq4.check(C())"
    ),
    "an array that pretends": (
        "import numpy as np\nclass C:\n    def __array__(self, *a, **k): return np.array(2.0 *"
        " q4.size)\nq4.check(C())"
    ),
    "a repr that exits": (
        "class C:\n    def __repr__(self): raise SystemExit\n    __str__ = __getattribute__ ="
        " __repr__\nq4.check(C())"
    ),
    "a metaclass that exits": (
        "class M(type):\n    def __getattribute__(s, n): raise SystemExit\nclass C(metaclass=M):"
        " pass\nq4.check(C())"
    ),
    "a generator without end": "q4.check(x for x in iter(int, 1))",
    "text of a gigabyte": "q4.check('9' * 10**9)",
    "a gigantic integer": "q4.check(1 << 10**7)",
    "a list of itself": "x = []; x.append(x); q4.check(x)",
    "NaN": "q4.check(float('nan'))",
    "infinity": "q4.check(float('inf'))",
    "surrogates": "q4.check('\\ud800\\udfff GB')",
    "NUL in text": "q4.check('7\\0 GB')",
    "code as an answer": "q4.check(\"__import__('os')._exit(0)\")",
    "everything at once": "q4.check('1 GB or 2 GB or 3 GB')",
    "a dictionary like take's": "q4.check({'value': 2 * q4.size})",
    "a dimension that lies": (
        "from fabriclab import units\nclass D(str):\n    def __eq__(s, o): return True\n   "
        " __hash__ = str.__hash__\ntry: q4.check(units.Quantity(1.0, D('size')))\nexcept"
        " BaseException: q4.check(D('1 GB'))"
    ),
}

PATCHES = {
    "numpy's functions": (
        "import numpy as np\nnp.isclose = np.allclose = lambda *a, **k: True\nnp.array = np.asarray"
        " = lambda *a, **k: None\nnp.ndarray = np.float64 = object\nq4.check(1)"
    ),
    "builtins": (
        "import builtins\nfor n in ('abs', 'float', 'isinstance', 'len', 'sorted', 'type', 'max',"
        " 'min', 'all', 'any', 'map', 'print', 'dict', 'list', 'str', 'callable', 'getattr',"
        " 'setattr'):\n    setattr(builtins, n, lambda *a, **k: True)"
    ),
    "the import": "import builtins; builtins.__import__ = None",
    "every builtin gone": "import builtins; vars(builtins).clear()",
    "math": (
        "import math; math.isnan = math.isfinite = lambda *a: True; math.pi = 3; math.log2 ="
        " math.sqrt = None"
    ),
    "the models": (
        "from fabriclab import collectives, transport\nfor m in (collectives, transport):\n    for"
        " n in list(vars(m)):\n        if n[:2] != '__': setattr(m, n, lambda *a, **k: 0.0)"
    ),
    "a model's code": (
        "from fabriclab import collectives\nf = collectives.ring_allreduce\nf.__code__ = (lambda"
        " *a: 0.0).__code__; f.__defaults__ = (1,)"
    ),
    "the units": "from fabriclab import units; units.GB = units.us = 0.0; units.si = None",
    "the judges": (
        "from fabriclab.course.engine import exercises\n"
        "from fabriclab.course.engine.exercises import bank, core, reader\n"
        "exercises.judge = bank.judge = bank.grade = bank.take = lambda *a: core.right('yes')\n"
        "reader.quantity = reader.within = lambda *a: {'value': 1.0}\nq4.check(1)"
    ),
    "the result": (
        "from fabriclab.course.engine.exercises import core\ncore.Result.__init__ = lambda s, *a,"
        " **k: object.__setattr__(s, 'score', 1.0)\nq4.check(1)"
    ),
    "the verdict": (
        "q4.verdict = None\ntry: q4.check(1)\nfinally: q4.__dict__['verdict'] = type('V', (),"
        " {'score': 1.0, 'status': 'right', 'message': ''})()"
    ),
    "the question": (
        "from fabriclab.course.engine.exercises import student\nstudent.Question.check ="
        " student.Student.ask = lambda *a: None\nq4.check(1)"
    ),
    "the kinds": (
        "from fabriclab.course.engine.exercises import kinds, function\nkinds.Quantity.take ="
        " function.Function.take = lambda s, a, x: {'value': 1.0}\nq4.check(1)"
    ),
    "what is taken down": (
        "from fabriclab.course.engine.exercises import bank\nbank.taken = lambda *a:"
        " None\nbank.SHEET.update({})\nbank.find = None\nq4.check(1)"
    ),
    "json": (
        'import json; json.dumps = lambda *a, **k: \'{"check": "transport.staging", "data":'
        " null}'; json.loads = None"
    ),
    "os": "import os; os.write = lambda *a: 10**6; os.getpid = os._exit = os.fstat = lambda *a: 1",
    "signal and time": (
        "import signal, time; signal.setitimer = signal.signal = time.sleep = time.monotonic ="
        " lambda *a: 0"
    ),
    "all modules forgotten": "import sys; sys.modules.clear()",
    "the modules' list": "import sys; sys.modules = {}; sys.path = None",
    "stdout": "import sys; sys.stdout.close(); sys.stderr = None; sys.__stdout__ = None",
    "a trace": (
        "import sys\ndef t(frame, event, arg):\n    raise SystemExit\nsys.settrace(t);"
        " sys.setprofile(t)"
    ),
    "no garbage collection and no depth": (
        "import gc, sys; gc.disable(); gc.set_threshold(0); sys.setrecursionlimit(50)"
    ),
    "the environment": "import os; os.environ.clear(); os.chdir('/'); os.umask(0o777)",
    "IPython": "ip = get_ipython(); type(ip).run_cell = None; type(ip).__mro__[1].run_cell = None",
    "names of its own": "print = len = range = None",
}

LOOKS = {
    "the bank imported": (
        "from fabriclab.course.engine.exercises import transport as part\n" + FOUND
    ),
    "the key of the exercise": searching(
        "find('transport.staging').kind.key(q4)",
        "from fabriclab.course.engine.exercises.bank import find",
    ),
    "the question's own key": searching("q4.exercise.kind.key or q4.exercise.kind._kind.key"),
    "judge asked for a hint": searching(
        "judge(me.id, 'transport.staging', {'value': 2.0 * q4.size}).score",
        "from fabriclab.course.engine.exercises import judge",
    ),
    "another name of the package": searching(
        "p",
        "import glob\np = glob.glob('/**/exercises/transport.py', recursive=True) +"
        " glob.glob('/**/transport.cpython*', recursive=True)\np = [n for n in p if 'exercises'"
        " in n]",
    ),
    "keys in memory": searching(
        "any(getattr(o, 'key', None) and getattr(o, 'dimension', None) for o in gc.get_objects() if"
        " type(o).__name__ == 'Quantity')",
        "import gc",
    ),
    "worked solutions and other notebooks": searching(
        "found",
        "import os\nfound = [n for d, _, names in os.walk('/') if 'site-packages' not in d for n in"
        " names if n.endswith('.ipynb') or n in ('grades.csv', 'roster.csv')]",
    ),
    "this room of the package": "from fabriclab.classroom import sandbox, standin\n" + FOUND,
    "the tests": searching(
        "os.path.exists(os.path.join(os.path.dirname(fabriclab.__file__), '..', 'tests'))",
        "import os, fabriclab",
    ),
    "root's home": searching(
        "found",
        "import os\nfound = [n for n in ('/root', '/home') if os.path.isdir(n) for n in"
        " os.listdir(n) if n not in ('student', '.pyenv') and not n.startswith('.')] + [n for n in"
        " ('/root/.ssh', '/root/.bashrc', '/etc/shadow') if os.path.exists(n)] +"
        " open('/etc/passwd').readlines()[1:]",
    ),
    "memory of other processes": searching(
        "found",
        "import os\nfound = []\nfor pid in filter(str.isdigit, os.listdir('/proc')):\n    if"
        " int(pid) in (os.getpid(), 1): continue\n    found.append(pid)",
    ),
    "the environment's secrets": searching(
        "set(os.environ) - {'PATH', 'HOME', 'LANG', 'MPLBACKEND', 'OPENBLAS_NUM_THREADS',"
        " 'OMP_NUM_THREADS', 'NUMBA_NUM_THREADS', 'IPYTHONDIR', 'PYTHONHASHSEED', 'PWD', 'SHLVL',"
        " '_', 'LC_CTYPE'} - {k for k in os.environ if k.startswith(('JPY', 'IPY', 'OLDPWD',"
        " 'CLICOLOR', 'FORCE', 'TERM', 'PAGER', 'GIT_PAGER'))}",
        "import os",
    ),
    "the network": searching(
        "True", "import socket\ns = socket.create_connection(('127.0.0.1', PORT), timeout=1)"
    ),
    "a server in the abstract": searching("len(socket.if_nameindex()) > 1", "import socket"),
    "files written outside": searching(
        "found",
        "import os\nfound = []\nfor p in ('/kit', '/kit/fabriclab',"
        " '/kit/fabriclab/course/engine/exercises',"
        " '/usr', '/usr/lib', '/', '/etc', '/dev', os.path.dirname(os.__file__)):\n    try: open(p"
        " + '/mine', 'w'); found.append(p)\n    except OSError: pass",
    ),
    "a link out of the box": searching(
        "set(os.listdir('out')) - {'.venv'}", "import os; os.symlink('ROOT', 'out')"
    ),
    "more rights": searching(
        "found",
        "import os, ctypes\nfound = []\nfor f in (lambda: os.setuid(0), lambda: os.chroot('/tmp'),"
        " lambda: os.nice(-5), lambda: os.mknod('disk', 0o60600, os.makedev(8, 0))):\n    try: f();"
        " found.append(f)\n    except (OSError, AttributeError): pass\nlibc = ctypes.CDLL(None,"
        " use_errno=True)\nif libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0:"
        " found.append('mount')",
    ),
    "a trace of process 1": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.ptrace(16, 1, 0, 0); libc.ptrace(8, 1, 0, 0)"
    ),
    "a verdict sent on the pipe": (
        'import os\nfor fd in range(3, 256):\n    try: os.write(fd, b\'\\n{"check":'
        ' "transport.staging", "score": 1, "data": {"score": 1.0}}\\n{"done": true}\\n\')\n   '
        " except OSError: pass"
    ),
    "a verdict by way of taken": (
        "from fabriclab.course.engine.exercises import bank\nbank.taken('transport.staging',"
        " {'score': 1.0, 'status': 'right'})\nbank.taken('transport.staging', {'value': [1] *"
        " 10})\nbank.taken('elsewhere', {'value': 1})"
    ),
    "data no take would write": (
        "from fabriclab.course.engine.exercises import bank\nx = y = []\nfor _ in range(500):"
        " y.append([]); y = y[0]\nfor d in (x, {'text': 'x' * 10**5}, {'value': 10**400},"
        " {'outputs': [[1] * 10**4] * 3}, {'value': True}, 7, 'yes', {'items': [{}]}):\n   "
        " bank.taken('transport.staging', d)"
    ),
    "all answers blanked": (
        "from fabriclab.course.engine.exercises import bank\nfor name in bank.ids():"
        " bank.taken(name, None)"
    ),
    "more than the pipe takes": (
        "from fabriclab.course.engine.exercises import bank\nfor _ in range(100):"
        " bank.taken('transport.staging', {'text': 'x' * 10**5})"
    ),
    "the word of the pipe, and an early end": (
        "import gc\nfor o in gc.get_objects():\n    if type(o).__name__ == 'Channel':\n       "
        " o.send(done=1, wrong=7); o.send(begin='x', data=1); o.send(end=[], wrong={})"
    ),
}

LIBC = (
    "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nlibc.syscall.restype ="
    " ctypes.c_long\narm = os.uname().machine == 'aarch64'\n"
)

KERNEL = {
    "a program for cores": (
        "import os\nfor p in ('/proc/sys/kernel/core_pattern',"
        " '/proc/1/root/proc/sys/kernel/core_pattern'):\n    try: open(p, 'w').write('|/proc/%P/"
        "root/tmp/x')\n    except OSError: continue\n    q4.check(2 * q4.size)\nif os.fork() == 0:"
        " os.abort()"
    ),
    "the grader's keys": searching(
        "libc.syscall(219 if arm else 250, 1, None) > 0 or libc.syscall(217 if arm else 248,"
        " b'user', b'x', b'x', 1, -3) > 0",
        LIBC,
    ),
    "memory of no process": searching(
        "libc.syscall(279 if arm else 319, b'x', 0) >= 0 or libc.shmget(0, 2**26, 0o1600) >= 0",
        LIBC,
    ),
    "a program for the kernel": searching(
        "any(libc.syscall(n, 0, 0, 0, 0) >= 0 or ctypes.get_errno() != 1 for n in ((280, 241, 282,"
        " 425) if arm else (321, 298, 323, 425)))",
        LIBC,
    ),
    "a room of its own": searching(
        "libc.unshare(0x10000000) == 0 or libc.unshare(0x20000) == 0"
        " or libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0",
        LIBC,
    ),
    "another kernel": searching(
        "libc.syscall(294 if arm else 320, -1, -1, 0, 0, 0) == 0 or ctypes.get_errno() != 1", LIBC
    ),
    "a telephone to the host": searching(
        "found",
        "import socket\nfound = []\nfor n in (16, 17, 38, 40, 44):\n    try:"
        " socket.socket(n, socket.SOCK_STREAM if n == 40 else socket.SOCK_RAW)\n    except OSError:"
        " continue\n    found.append(n)",
    ),
    "pressure": searching(
        "found",
        "import os\nfound = []\nfor d, _, names in os.walk('/proc'):\n    if"
        " d.split('/')[2:3] and (d.split('/')[2].isdigit() or 'self' in d): continue\n    for n in"
        " names:\n        try: os.close(os.open(d + '/' + n, os.O_WRONLY)); found.append(n)\n"
        "        except OSError: pass",
    ),
}

IN_FUNCTION = {
    "a function that hangs on one input": (
        "def ring(size, ranks, alpha, beta):\n    while ranks == 1: pass\n    return 0.0"
    ),
    "a function that swallows all": (
        "def ring(*a):\n    while True:\n        try: sum(range(10**5))\n        except"
        " BaseException: pass"
    ),
    "a function that exits": "def ring(*a): raise SystemExit",
    "a function that ends Python": "import os\ndef ring(*a): os._exit(0)",
    "a function that gives itself": "def ring(*a): return ring",
    "a function that gives a gigabyte": "import numpy as np\ndef ring(*a): return np.ones(10**8)",
    "a function that gives ten thousand lists": "def ring(*a): return [0.1234567890123] * 10_000",
    "a function that writes to its input": (
        "def ring(size, *a):\n    try: size[:] = 0.0\n    except TypeError: pass\n    return 0.0"
    ),
    "a function with an odd name": (
        "class R:\n    def __call__(self, *a): raise type('\\n' * 50, (BaseException,), {})\nring"
        " = R()"
    ),
    "an exception that cannot be shown": (
        "class E(Exception):\n    def __str__(self): raise SystemExit\ndef ring(*a): raise E"
    ),
    "a coroutine": "async def ring(*a): return 0.0",
    "a generator": "def ring(*a): yield 0.0",
}

CHANNEL = (
    "import gc, os\nsend = [o for o in gc.get_objects() if type(o).__name__ == 'Channel'][0].send\n"
)

FORGES = {
    "a cell too slow that was none": (
        CHANNEL + "for n in range(13, 30): send(end=n, wrong='', late=True, left=True, changed=[])"
    ),
    "another cell too slow": (
        CHANNEL + "send(end=13, wrong='', late=False, left=False, changed=[])\nfor n in (14, 15):"
        " send(begin=n); send(end=n, wrong='slow', late=True, left=False, changed=[])"
    ),
    "the end of all cells": (
        CHANNEL
        + "send(end=13, wrong='', late=False, left=False, changed=[])\nfor n in range(14, 30):"
        " send(begin=n); send(end=n, wrong='', late=False, left=False,"
        " changed=[])\nsend(done=True)"
    ),
    "the end of all cells, and then an end": (
        CHANNEL
        + "send(end=13, wrong='', late=False, left=False, changed=[])\nfor n in range(14, 30):"
        " send(begin=n); send(end=n, wrong='', late=False, left=False,"
        " changed=[])\nsend(done=True)\nos._exit(0)"
    ),
    "an end, in another cell's name": CHANNEL + "send(begin=14)\nos._exit(0)",
    "an end, in the name of no cell": (
        CHANNEL + "import random\nsend(begin=random.randrange(10**6, 10**9))\nos._exit(0)"
    ),
    "answers of no form in others' names": (
        CHANNEL
        + "for d in ({'score': 1}, {'value': True}, {'outputs': 7}, [], 'right', 7):\n    for n in"
        " ('transport.crossover', 'transport.ring', 'transport.busbw'): send(check=n, data=d)"
    ),
    "notes of a megabyte": (
        CHANNEL
        + "for n in range(50): send(end=n, wrong='w' * 9000, late='yes', left=1, changed=[['x'] *"
        " 100, {}, None])\nfor n in range(100): send(other='someone' * 50 + str(n));"
        " send(setup='broken'); send(ready=False)"
    ),
    "word every second that all is well": (
        CHANNEL + "import time\nwhile True:\n    try: time.sleep(0.5); send(fine=1)\n    except"
        " BaseException: pass"
    ),
    "a million empty lines": (
        "import os\nfor fd in range(3, 256):\n    try:\n        for _ in range(20_000):"
        " os.write(fd, b'\\n' * 50)\n    except OSError: pass"
    ),
    "words on the pipe by way of /proc": (
        "import os\nfor p in ('1', 'self'):\n    try: names = os.listdir(f'/proc/{p}/fd')\n   "
        " except OSError: continue\n    for fd in names:\n        try: open(f'/proc/{p}/fd/{fd}',"
        " 'r+b', 0).write(b'\\n{\"done\": true}\\n' * 100)\n        except OSError: pass"
    ),
    "the owner": (
        "from fabriclab.course.engine.exercises import bank\nbank.OWNER = 'bob'\nq ="
        " exercises.Student('bob').ask('transport.staging'); q.check(q.size)"
    ),
    "the sheet": (
        "from fabriclab.course.engine.exercises import bank\nfor q in bank.SHEET.values():"
        " q['kind'] = 'Free'; q['numbers'] = {}; q['needs'] = {}\nbank.KINDS.clear()\nq4.check(1)"
    ),
}

SPOILS = {
    "a thread that takes the questions away": (
        "import threading, time\ndef spoil():\n    names, end = get_ipython().user_ns, time.time()"
        " + 1\n    while time.time() < end: names['answer'] = names['q5'] = names['q6'] ="
        " names['me'] = None\nthreading.Thread(target=spoil, daemon=True).start()\n#"
        " %%\nq4.check(1)"
    ),
    "a thread that patches for ever": (
        "import builtins, threading\ndef spoil():\n    while True: builtins.len ="
        " builtins.isinstance = lambda *a: 0\nthreading.Thread(target=spoil,"
        " daemon=True).start()\n# %%\nq4.check(1)"
    ),
    "a bomb in one cell, thrown in another": (
        "import os\nclass Bomb(float):\n    def __getattribute__(self, name): os._exit(0)\n   "
        " __float__ = __repr__ = __eq__ = __hash__ = lambda self, *a: os._exit(0)\nmine ="
        " Bomb(3)\n# %%\nq4.check(mine)\nfloat.__float__(mine)"
    ),
    "a finalizer that waits for later": (
        "import os\nclass D:\n    def __del__(self): os._exit(1)\nd = D(); d.me = d; del d\n#"
        " %%\nq4.check(1)"
    ),
    "a generator that ends Python when closed": (
        "def g():\n    import os\n    try:\n        while True: yield 1.0\n    finally:"
        " os._exit(0)\nx = g(); next(x)\n# %%\nq4.check(x)\ndel x"
    ),
    "an exit registered": (
        "import atexit, os, faulthandler\natexit.register(os._exit, 3);"
        " faulthandler.dump_traceback_later(0.05, exit=True, file=open('/dev/null', 'w'))\n#"
        " %%\nq4.check(1)"
    ),
    "another bank in the list of modules": (
        "import sys, types\nfake ="
        " types.ModuleType('fabriclab.course.engine.exercises.bank')\nfake.grade = lambda *a:"
        " type('R', (), dict(score=1.0, status='right',"
        " message=''))()\nsys.modules['fabriclab.course.engine.exercises.bank'] = fake\nfrom"
        " fabriclab.course.engine.exercises import student\nexercises.bank = student.bank ="
        " fake\nq4.check(1)"
    ),
    "the bank loaded anew": (
        "import importlib\nfrom fabriclab.course.engine.exercises import"
        " bank\nimportlib.reload(bank); q4.check(1)"
    ),
    "every module loaded anew": (
        "import importlib, sys\nfor n, m in list(sys.modules.items()):\n    if"
        " n.startswith(('fabriclab', 'json', 'signal', 'threading')):\n        try:"
        " importlib.reload(m)\n        except BaseException: pass\nq4.check(1)"
    ),
    "the source of every later cell": (
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['import os;"
        " os._exit(0)\\n'])"
    ),
    "the numbers in every later cell": (
        "import ast\nclass Zero(ast.NodeTransformer):\n    def visit_Constant(self, node):"
        " node.value = 0; return node\nget_ipython().ast_transformers.append(Zero())"
    ),
    "an event before every later cell": (
        "import os\nget_ipython().events.register('pre_run_cell', lambda *a: os._exit(0))"
    ),
    "an event that sleeps before every later cell": (
        "import time\nget_ipython().events.register('pre_run_cell', lambda *a: time.sleep(1e6))"
    ),
    "methods of the one shell": (
        "ip = get_ipython(); ip.run_cell = ip.transform_cell = ip.run_code = ip.run_ast_nodes ="
        " lambda *a, **k: 'pass'"
    ),
    "parts of the one shell": (
        "ip = get_ipython(); ip.compile = ip.displayhook = ip.events = ip.input_transformer_manager"
        " = ip.loop_runner = None"
    ),
    "names that cannot be looked up": (
        "class N(dict):\n    def __getitem__(self, name): raise SystemExit\nget_ipython().user_ns"
        " = N()"
    ),
    "all names cleared": "get_ipython().user_ns.clear()",
    "%reset -f": "%reset -f",
    "other things in the questions' names": "q5 = q6 = q7 = me = exercises = None",
    "questions that do not ask": "q5.check = q6.check = q7.check = lambda *a: None",
    "the runner's own functions": (
        "import sys\nf = sys._getframe()\nwhile f: g = f.f_globals; f = f.f_back\nfor n in ('run',"
        " 'sweep', 'silence', 'describe', 'Late', '_tasks', 'os', 'signal', 'json'): g[n] = lambda"
        " *a, **k: None"
    ),
    "the runner's own classes": (
        "import gc\nfor o in gc.get_objects():\n    if isinstance(o, type) and o.__name__ in"
        " ('Kept', 'Late', 'Channel'):\n        for k in ('back', '__enter__', '__exit__', 'send',"
        " 'threads_left', '_ring'): setattr(o, k, lambda *a, **k: None)"
    ),
    "the code of json": (
        "import json\njson.dumps.__code__ = (lambda *a, **k: '{\"done\": true}').__code__;"
        " json.JSONEncoder.iterencode = json.JSONEncoder.encode = lambda *a: 'null'\nq4.check(1)"
    ),
    "true is false": (
        "import ctypes\nctypes.c_ssize_t.from_address(id(True) + 24).value = 0;"
        " ctypes.c_int32.from_address(id(False) + 24).value = 1\nq4.check(1)"
    ),
    "other small numbers": (
        "import ctypes\nfor i in range(2, 20): ctypes.c_int32.from_address(id(i) + 24).value ="
        " 1\nq4.check(1)"
    ),
    "the methods of text, in memory": (
        "import ctypes, gc\nfor t in (str, dict, list, int, float, bytes, tuple, type):"
        " gc.get_referents(t.__dict__)[0].clear()\nq4.check(1)"
    ),
    "its own memory, by /proc": (
        "import builtins\nwith open('/proc/self/mem', 'r+b', 0) as m: m.seek(id(builtins.len) +"
        " 16); m.write(b'\\0' * 8)\nq4.check(1)"
    ),
    "an audit hook that exits": (
        "import sys, os\nsys.addaudithook(lambda event, a: os._exit(0) if event in ('compile',"
        " 'exec', 'os.listdir') else None)"
    ),
    "an audit hook that raises": (
        "import sys\ndef hook(event, a): raise RuntimeError\nsys.addaudithook(hook)"
    ),
    "garbage collection that exits": (
        "import gc, os\ngc.callbacks.append(lambda phase, info: os._exit(0))"
    ),
    "import hooks": (
        "import sys\nclass F:\n    def find_spec(s, *a): raise SystemExit\nsys.meta_path.insert(0,"
        " F()); sys.path_hooks.clear(); sys.path_importer_cache.clear()"
    ),
    "codecs": (
        "import codecs\ncodecs.register(lambda name: 1 / 0); codecs.register_error('strict', lambda"
        " e: ('', e.end)); codecs.register_error('backslashreplace', lambda e:"
        " __import__('os')._exit(0)); print('\\ud800')"
    ),
    "modules of its own in the folder": (
        "for n in ('json', 'signal', 'threading', 'fabriclab', 'numpy', 'os', 'gc',"
        " 'sitecustomize'): open(n + '.py', 'w').write('raise SystemExit')\nq4.check(1)"
    ),
    "an error thrown at the main thread": (
        "import ctypes, threading\n"
        "ctypes.pythonapi.PyThreadState_SetAsyncExc("
        "ctypes.c_ulong(threading.main_thread().ident), ctypes.py_object(SystemExit))"
    ),
    "the event loop": (
        "import asyncio\nasync def f():\n    await asyncio.sleep(0); raise"
        " SystemExit\nasyncio.get_event_loop().create_task(f()); asyncio.get_event_loop().stop();"
        " asyncio.get_event_loop().close()"
    ),
    "warnings, numpy's errors and decimals": (
        "import warnings, decimal, numpy as np\nwarnings.simplefilter('error');"
        " np.seterr(all='raise'); decimal.getcontext().prec = 1"
    ),
}

REACHES = {
    "a namespace of its own": searching(
        "libc.unshare(0x10000000) == 0 and libc.unshare(0x20000) == 0",
        "import ctypes\nlibc = ctypes.CDLL(None)",
    ),
    "mounts undone": searching(
        "len(os.listdir('/kit/fabriclab/classroom')) > 0",
        "import ctypes, os\nlibc = ctypes.CDLL(None); libc.unshare(0x10000000 | 0x20000)\nfor p in"
        " (b'/kit/fabriclab/course/engine/exercises', b'/kit/fabriclab/classroom'):"
        " libc.umount2(p, 2)",
    ),
    "the root of process 1": searching(
        "any(os.path.exists(f'/proc/1/{p}/ROOT/tests') for p in ('root', 'cwd'))", "import os"
    ),
    "memory shared by name": searching(
        "found",
        "import ctypes, os\nlibc = ctypes.CDLL(None)\nfound = [k for k in range(0x1000, 0x1010) if"
        " libc.shmget(k, 0, 0) >= 0] + os.listdir('/dev/shm')\nlibc.shmget(0x1005, 4096, 0o1666);"
        " open('/dev/shm/left', 'w'); open('/tmp/left', 'w')",
    ),
    "what another box left": searching(
        "os.path.exists('/tmp/left') or os.path.exists('left')", "import os"
    ),
    "abstract sockets": searching("'@' in open('/proc/net/unix').read()"),
    "a file with another's rights": (
        "import os\nopen('/tmp/s', 'w').write('#!/bin/sh'); os.chmod('/tmp/s', 0o6777)\nq4.check(1)"
    ),
    "programs with more rights": searching(
        "b'uid=0' in out",
        "import subprocess\nout = subprocess.run('sudo -n id; su -c id; pkexec id', shell=True,"
        " capture_output=True, timeout=1.5, stdin=subprocess.DEVNULL).stdout",
    ),
    "keys in what is compiled": searching(
        "b'EXERCISES' in d or b'staging' in d",
        "import glob\nd = b''.join(open(p, 'rb').read() for p in glob.glob('/kit/**/*.py*',"
        " recursive=True) if 'exercises' in p)",
    ),
    "where it was installed from": searching(
        "found",
        "import glob, os, sys\nfound = [l for e in sys.path for f in glob.glob(e + '/*.pth') for l"
        " in open(f) if os.path.exists(l.strip() + '/fabriclab/classroom/batch.py')]",
    ),
}
