"""The sandbox: honest answers come out whatever lies beside them, and nothing a student writes
earns what it did not answer.
"""

import dataclasses
import json
import os
import shutil
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attacks
import pytest

from fabriclab.classroom import bounds, mounts, sandbox, standin
from fabriclab.course.engine import exercises
from fabriclab.course.engine.exercises import bank

ROOT = Path(__file__).parents[1]
QUICK = sandbox.Limits(seconds=2.0, wall=60.0, memory=2**30)
LONGEST = {type(one.kind).__name__: one.kind.longest for one in map(bank.find, bank.ids())}
IDS = (
    "transport.crossover",
    "transport.time",
    "transport.ring",
    "transport.staging",
    "transport.write_ring",
    "transport.order",
    "transport.busbw",
)
ATTACKED, WRITTEN = "transport.staging", "transport.write_ring"
KINDS = {
    name: group
    for name in dir(attacks)
    if type(group := getattr(attacks, name)) is dict and name.isupper()
}
# one of each sort for every run; `make test ARGS="-m slow"` tries them all
FEW = (
    "a loop that swallows interrupts",
    "memory in one piece",
    "os._exit(0)",
    "an answer equal to everything",
    "every builtin gone",
    "the kinds",
    "another name of the package",
    "files written outside",
    "the network",
    "a verdict by way of taken",
    "a function that hangs on one input",
    "a cell too slow that was none",
    "the numbers in every later cell",
    "true is false",
    "a program for cores",
)

# in CI it has to be there: a sandbox that is never tried is none
boxed = pytest.mark.skipif(
    not shutil.which("bwrap") and "CI" not in os.environ, reason="bubblewrap is not installed here"
)


def cell(kind, source):
    return {
        "cell_type": kind,
        "metadata": {},
        "source": source,
        **({"outputs": [], "execution_count": None} if kind == "code" else {}),
    }


def write(path, sources):
    path.write_text(
        json.dumps(
            {
                "nbformat": 4,
                "nbformat_minor": 5,
                "metadata": {},
                "cells": [cell("code", source) for source in sources],
            }
        )
    )
    return path


def worked(name):
    """{exercise: source of its worked answer} of one of the notebooks in solutions/."""
    found, last = {}, ""
    for each in json.loads((ROOT / "solutions" / name).read_text(encoding="utf-8"))["cells"]:
        source = "".join(each["source"])
        if each["cell_type"] == "code" and ".ask(" in source:
            last = source.split('"')[1]
        elif each["cell_type"] == "code" and ".check(" in source:
            found[last] = source
    return found


def honest():
    """(imports and asks, {exercise: answer cell}) of a short notebook with one exercise of most
    kinds.
    """
    imports = (
        "import fabriclab\nimport numpy as np\nfrom fabriclab.course.engine import exercises\n"
        "from fabriclab import collectives,"
        ' transport\nfrom fabriclab.units import GB, us\nfabriclab.require("0.1")'
    )
    answers = worked("03-transport.ipynb")
    asks, cells = [], {}
    for number, name in enumerate(IDS, start=1):
        asks.append(f'q{number} = me.ask("{name}")')
        old = answers[name].rpartition(".check(")[0].split()[-1]
        cells[name] = answers[name].replace(f"{old}.", f"q{number}.")
    return [imports, 'me = exercises.Student("ada")', *asks], cells


SETUP, ANSWERS = honest()


@pytest.fixture(scope="module")
def assignment(tmp_path_factory):
    return write(
        tmp_path_factory.mktemp("released") / "short.ipynb",
        [*SETUP, *(f"answer = ...\nq{n}.check(answer)" for n in range(1, len(IDS) + 1))],
    )


def points(collected, student="ada"):
    return {
        name: exercises.judge(student, name, data).score for name, data in collected.answers.items()
    }


def attack(folder, assignment, name, source, target=ATTACKED):
    """Collect the honest notebook with `source` in the place of one answer, and what a line `# %%`
    parts from it before all answers.
    """
    *before, last = source.split("\n# %%\n")
    sources = [last if exercise == target else answer for exercise, answer in ANSWERS.items()]
    path = write(folder / f"{abs(hash(name))}.ipynb", [*SETUP, *before, *sources, "me.progress()"])
    return sandbox.collect(path, "ada", assignment, QUICK)


def all_of(groups):
    for group in groups:
        for name, source in KINDS[group].items():
            in_function = group == "IN_FUNCTION"
            yield (
                name,
                source + ("\nq5.check(ring)" if in_function else ""),
                WRITTEN if in_function else ATTACKED,
            )


def try_all(folder, assignment, chosen):
    """{attack: what went wrong} over some attacks, two at a time."""
    with socket.socket() as server, ThreadPoolExecutor(2) as threads:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = str(server.getsockname()[1])
        tried = {
            name: (
                threads.submit(
                    attack,
                    folder,
                    assignment,
                    name,
                    source.replace("PORT", port).replace("ROOT", str(ROOT)),
                    target,
                ),
                target,
            )
            for name, source, target in chosen
        }
        bad = {}
        for name, (future, target) in tried.items():
            collected = future.result()
            got = points(collected)
            lost = [
                exercise for exercise, score in got.items() if exercise != target and score != 1
            ]
            if got[target] or lost or collected.refused or list(got) != list(IDS):
                bad[name] = {
                    "earned": got[target],
                    "lost": lost,
                    "faults": collected.faults,
                    "notes": collected.notes,
                    "refused": collected.refused,
                }
            json.dumps(
                [collected.answers, collected.faults, collected.notes], ensure_ascii=False
            ).encode("utf-8")
    return bad


@boxed
def test_attacks_of_every_sort_cost_their_own_exercise_and_earn_nothing(tmp_path, assignment):
    """A cell that hangs, dies, floods, lies, patches or spies would take honest answers along, or
    earn a point.
    """
    chosen = [one for one in all_of(KINDS) if one[0] in FEW]
    assert len(chosen) == len(FEW)
    assert try_all(tmp_path, assignment, chosen) == {}


@boxed
@pytest.mark.slow
@pytest.mark.parametrize("group", KINDS)
def test_every_attack_costs_its_own_exercise_and_earns_nothing(tmp_path, assignment, group):
    """The same for every attack in the list."""
    assert try_all(tmp_path, assignment, list(all_of([group]))) == {}


def solved(name, student, **options):
    """{exercise: verdict} of a worked notebook, sent in by a student."""
    collected = sandbox.collect(
        ROOT / "solutions" / name, student, ROOT / "exercises" / name, **options
    )
    assert not collected.refused and not collected.faults, collected
    return {
        exercise: exercises.judge(student, exercise, data)
        for exercise, data in collected.answers.items()
    }


PARTS = sorted(path.name for path in (ROOT / "solutions").glob("*.ipynb"))


def full(name, student, **options):
    verdicts = solved(name, student, **options)
    kept = {exercise for exercise in verdicts if bank.find(exercise).kind.by_hand}
    return (
        verdicts
        and {
            exercise: verdict.message
            for exercise, verdict in verdicts.items()
            if verdict.score != 1
            and not (exercise in kept and verdict.status == "for the instructor")
        }
        == {}
    )


@boxed
def test_every_worked_answer_earns_its_point():
    """A kind of answer that the sandbox loses on the way would cost a whole class its points."""
    with ThreadPoolExecutor(2) as threads:
        assert dict(
            zip(PARTS, threads.map(lambda name: full(name, "zoé"), PARTS), strict=True)
        ) == dict.fromkeys(PARTS, True)


@boxed
@pytest.mark.slow
@pytest.mark.parametrize("student", ["001", "ada", "ADA", "li.hua@example.edu"])
def test_every_worked_answer_earns_its_point_for_others(student):
    """Numbers that one student gets and another does not may be lost on the way out."""
    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(lambda name: full(name, student), PARTS))


@boxed
@pytest.mark.parametrize(
    "habit, sources",
    [
        ("the set-up deleted", list(ANSWERS.values())),
        ("the order of cells reversed", [*list(ANSWERS.values())[::-1], *SETUP]),
        (
            "every cell twice",
            [each for source in [*SETUP, *ANSWERS.values()] for each in (source, source)],
        ),
        (
            "the stub doubled behind the answer",
            [
                *SETUP,
                *ANSWERS.values(),
                *(f"answer = ...\nq{n}.check(answer)" for n in range(1, 8)),
            ],
        ),
        (
            "answer and check in two cells",
            [
                *SETUP,
                *(
                    part
                    for source in ANSWERS.values()
                    for part in (source.rpartition("\n")[0], source.rpartition("\n")[2])
                ),
            ],
        ),
        (
            "wrong first, right later",
            [*SETUP, *(f"q{n}.check('3 parsecs')" for n in range(1, 8)), *ANSWERS.values()],
        ),
        (
            "another student's id",
            [
                'from fabriclab.course.engine import exercises\nme = exercises.Student("bob")',
                *SETUP[2:],
                *ANSWERS.values(),
            ],
        ),
        (
            "the usual things of a notebook",
            [
                *SETUP,
                (
                    "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);"
                    " plt.title('延迟'); plt.show(); plt.savefig('x.png')"
                ),
                "%%writefile helper.py\ndef twice(x): return 2 * x",
                "import helper\nassert helper.twice(2) == 4",
                "import asyncio\nawait asyncio.sleep(0)\nx = !echo 42\nassert x[0] == '42'",
                (
                    "import ipywidgets\nfrom IPython.display import Markdown,"
                    " display\ndisplay(ipywidgets.IntSlider(), Markdown('a *b*'))\n%timeit -n1 -r1"
                    " 1\n_"
                ),
                (
                    "from multiprocessing import Pool\nwith Pool(2) as pool: assert pool.map(abs,"
                    " [-1]) == [1]"
                ),
                (
                    "from concurrent.futures import"
                    " ThreadPoolExecutor\nlist(ThreadPoolExecutor(2).map(abs, [1]))"
                ),
                *ANSWERS.values(),
                (
                    "q1.hint(); me.progress(); me.points(); print(q1, me, q1.text, dir(q1)); assert"
                    " q1.verdict.status\nimport getpass; getpass.getuser()"
                ),
                "import warnings; warnings.warn('so')",
            ],
        ),
        (
            "mistakes on the way",
            [
                *SETUP,
                "1 / 0",
                "def f(:",
                "q1.alhpa",
                "me.ask('transport.nothing')",
                "raise ValueError('\\ud800')",
                *ANSWERS.values(),
                "undefined",
            ],
        ),
    ],
)
def test_habits_of_students_cost_nothing(tmp_path, assignment, habit, sources):
    """An honest answer was lost to the way the notebook was worked on."""
    collected = sandbox.collect(write(tmp_path / "sent.ipynb", sources), "ada", assignment)
    assert points(collected) == dict.fromkeys(IDS, 1.0), collected
    assert not collected.faults
    assert ("names the student 'bob'" in "".join(collected.notes)) == (
        habit == "another student's id"
    )
    if habit == "mistakes on the way":
        assert "stopped with ZeroDivisionError: division by zero" in "".join(collected.notes)


@boxed
def test_nothing_runs_on_beside_a_later_cell(tmp_path, assignment):
    """A process left behind could hold up, watch or kill what is run after it."""
    begin = (
        "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\n!sleep"
        " 1000 &"
    )
    look = (
        "import os\nothers = [pid for pid in os.listdir('/proc') if pid.isdigit() and int(pid) not"
        " in (1, os.getpid())]\nq4.check(repr(others))"
    )
    collected = sandbox.collect(
        write(tmp_path / "sent.ipynb", [*SETUP, begin, look]), "ada", assignment
    )
    assert collected.answers[ATTACKED] == {"text": "[]"}, collected


@boxed
def test_a_flood_on_the_pipe_is_cut(tmp_path, assignment):
    """Whatever a student's process sends is held in the grader's memory."""
    flood = (
        "from fabriclab.course.engine.exercises import bank\nfor _ in range(20):"
        f" bank.taken('{ATTACKED}', {{'text': 'x' * 10_000}})"
    )
    sources = [flood if name == ATTACKED else source for name, source in ANSWERS.items()]
    collected = sandbox.collect(
        write(tmp_path / "sent.ipynb", [*SETUP, *sources]),
        "ada",
        assignment,
        sandbox.Limits(output=100_000),
    )
    assert points(collected) == dict.fromkeys(IDS, 1.0) | {ATTACKED: 0.0}
    assert any(
        "cell 13" in note and "sent out more than 100,000 bytes" in note for note in collected.notes
    )


@boxed
def test_processes_are_counted(tmp_path, assignment):
    """A fork bomb without a bound takes the machine from everyone who is graded beside it."""
    forks = (
        "import os, time\ntry:\n    for n in range(200):\n        if os.fork() == 0:"
        " time.sleep(100)\n    q4.check('no bound')\nexcept OSError:\n    q4.check(float(n))"
    )
    collected = sandbox.collect(
        write(tmp_path / "sent.ipynb", [*SETUP, forks]),
        "ada",
        assignment,
        sandbox.Limits(processes=20),
    )
    assert 5 <= collected.answers[ATTACKED]["value"] < 20


@boxed
def test_faults_name_the_cell_and_say_what_happened(tmp_path, assignment):
    """A student who is told nothing cannot mend it; one told of another exercise mends the wrong
    one.
    """
    sources = [
        *SETUP,
        "q1.check(q1.alhpa)",
        "answer = 1 /",
        "while True: pass\nq3.check(1)",
        ANSWERS[ATTACKED],
        "import os; os._exit(3)\nq5.check(1)",
        "helper = undefined",
    ]
    cells = [
        *map(lambda source: cell("code", source), sources),
        cell("markdown", ANSWERS["transport.order"]),
    ]
    (tmp_path / "sent.ipynb").write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    )
    collected = sandbox.collect(tmp_path / "sent.ipynb", "ada", assignment, QUICK)
    assert collected.faults == {
        "transport.crossover": (
            "cell 10 stopped with AttributeError: this exercise has no number called 'alhpa'; it"
            " has alpha, beta"
        ),
        "transport.busbw": (
            "cell 15 stopped with NameError: name 'undefined' is not defined"
        ),  # the last one asked before it
        "transport.ring": "cell 12 ran longer than 2 s and was stopped",
        "transport.write_ring": (
            "cell 14 ended the Python process: an exit, a crash, or no memory left"
        ),
        "transport.order": "cell 16, with q6.check, is a Markdown cell: it was not run",
    }
    assert points(collected) == {**dict.fromkeys(IDS, 0.0), ATTACKED: 1.0}
    assert any("no cell checks an answer to transport.time" in note for note in collected.notes)


@boxed
def test_what_an_earlier_cell_spoilt_is_run_by_itself(tmp_path, assignment):
    """A cell that takes something away would cost a later, honest one its point; one asked twice
    could guess twice.
    """
    spoil = "q3 = q5 = None\nq4.check('3 GB')"
    guess = "q6.check(['tree', 'ring'] if q5 is None else ['ring', 'tree'])"
    own = {"transport.ring": "q3.check(undefined)", ATTACKED: spoil, "transport.order": guess}
    collected = sandbox.collect(
        write(
            tmp_path / "sent.ipynb",
            [
                *SETUP,
                *(
                    own | {name: source for name, source in ANSWERS.items() if name not in own}
                ).values(),
            ],
        ),
        "ada",
        assignment,
    )
    assert points(collected) == dict.fromkeys(IDS, 1.0) | dict.fromkeys(own, 0.0)
    assert collected.answers["transport.order"] == {"items": ["tree", "ring"]}
    assert collected.faults == {
        "transport.ring": "cell 10 stopped with NameError: name 'undefined' is not defined"
    }
    assert (
        "transport.write_ring was answered only when its cells were run without the others"
        in collected.notes
    )


def test_groups_of_a_killed_batch_are_taken_away(tmp_path, monkeypatch):
    """Every batch that was killed would leave control groups on the machine until it is started
    anew.
    """
    gone = subprocess.Popen(["true"])
    gone.wait()
    left, alive = (
        tmp_path / f"fabriclab-{gone.pid}-0a1b2c3d",
        tmp_path / f"fabriclab-{os.getpid()}-0a1b2c3d",
    )
    left.mkdir()
    alive.mkdir()
    monkeypatch.setattr(bounds, "_places", lambda limits: [(tmp_path, {})])
    with bounds.groups(sandbox.Limits()):
        assert not left.exists() and alive.exists() and len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == [alive]


@boxed
def test_what_was_not_reached_is_said(tmp_path, assignment):
    """A notebook that uses up its time must not look as if the rest had been left blank."""
    loop = attacks.NEVER_ENDS["a loop that swallows interrupts"]
    sent = write(
        tmp_path / "sent.ipynb",
        [*SETUP, ANSWERS["transport.crossover"], loop, loop, loop, ANSWERS[ATTACKED]],
    )
    collected = sandbox.collect(sent, "ada", assignment, sandbox.Limits(seconds=1.0, wall=4.0))
    assert points(collected)["transport.crossover"] == 1
    assert "was not reached: the notebook had used up its 4 s" in collected.faults[ATTACKED]
    assert collected.seconds < 12


@pytest.mark.parametrize("student", ["ada", "001"])
def test_the_box_is_told_no_answer(student):
    """A key, a right option, an order, a slip or a moral in the data for the box would be found
    there.
    """
    sheet = standin.sheet(student, bank.ids())
    assert set(sheet) == set(bank.ids()) and standin.plain(sheet)
    for name, question in sheet.items():
        exercise = bank.find(name)
        assert (
            question["prompt"] == exercise.prompt(bank.numbers(student, name))
            and tuple(question["hints"]) == exercise.hints
        )
        assert set(question) == {
            "title",
            "chinese",
            "prompt",
            "wants",
            "hints",
            "numbers",
            "kind",
            "needs",
            "longest",
        }
        assert set(question["needs"]) <= {"dimension", "symbols", "names", "inputs", "unit", "what"}
        text = json.dumps(question["needs"])
        moral = exercise.moral
        moral = moral(bank.numbers(student, name)) if callable(moral) else moral
        assert not moral or moral not in text
    assert not [
        field
        for question in sheet.values()
        for field in question["needs"]
        if field in ("key", "options", "values", "slips")
    ]


def test_no_file_with_keys_is_in_the_box():
    """One file of the bank in the kit gives away all of its exercises."""
    shown = mounts.shown()
    for place, path in shown.items():
        if path.suffix == ".py":
            text = path.read_text(encoding="utf-8")
            assert "EXERCISES = [" not in text and "def part(" not in text, place
    assert {"core", "kinds", "reader", "student", "bank"} <= {Path(place).stem for place in shown}
    assert not {Path(place).stem.split(".")[0] for place in shown} & {
        name.split(".")[0] for name in bank.ids()
    }


def test_the_stand_in_takes_answers_as_the_bank_does(monkeypatch):
    """An answer that is taken otherwise in the box than at home would be right in class and wrong
    in the gradebook.
    """
    monkeypatch.setattr(standin, "SHEET", standin.sheet("ada", bank.ids()))
    monkeypatch.setattr(standin, "OWNER", "ada")
    answers = [
        None,
        ...,
        " ",
        7,
        7.5,
        "7 GB",
        True,
        [1.0],
        ["a", "b"],
        "a, b",
        "N*M",
        lambda *a: 0.5,
        lambda *a: a[0],
        object(),
        float("inf"),
        "x" * 30_000,
        10**400,
    ]
    for name in bank.ids():
        for answer in answers:
            taken = bank.take("ada", name, answer)
            assert (
                standin.take("ada", name, answer)
                == taken
                == sandbox._bounded(json.loads(json.dumps(taken)), standin.SHEET[name])
            ), (name, answer)


def test_a_new_kind_of_answer_needs_no_list(monkeypatch):
    """A kind that an instructor adds would work at home and not in class."""

    class Colour:
        by_hand, worth, longest = False, 1, 7

        def __init__(self, key=None):
            self.key = key

        def needs(self, x):
            return {}

        @classmethod
        def rebuild(cls, needs):
            return cls()

        def wants(self, x):
            return "a colour"

        def take(self, answer, x):
            return {"text": answer}

    Colour.__module__, Colour.__qualname__ = __name__, "Colour"
    monkeypatch.setitem(globals(), "Colour", Colour)
    old = bank.find("transport.time")
    new = dataclasses.replace(old, kind=Colour("#00ff00"))
    monkeypatch.setitem(bank.part("transport"), "transport.time", new)
    sheet = standin.sheet("ada", ["transport.time"])
    assert "#00ff00" not in json.dumps(sheet)
    monkeypatch.setattr(standin, "SHEET", sheet)
    monkeypatch.setattr(standin, "OWNER", "ada")
    assert standin.take("ada", "transport.time", "#ff0000") == {"text": "#ff0000"}
    assert sandbox._bounded({"text": "#ff0000"}, sheet["transport.time"]) == {"text": "#ff0000"}
    assert sandbox._bounded({"text": "#ff00000"}, sheet["transport.time"]) == sandbox.ODD


@pytest.mark.parametrize(
    "data, kind",
    [
        ({"text": "x" * 201}, "Quantity"),
        ({"value": True}, "Quantity"),
        ({"value": "7"}, "Quantity"),
        ({"value": 10**300}, "Quantity"),
        ({"value": 1.0, "score": 1}, "Quantity"),
        ([], "Quantity"),
        ({"items": [1]}, "Ordering"),
        ({"items": ["a"] * 50}, "Ordering"),
        ({"outputs": [1.0]}, "Quantity"),
        ({"outputs": [[[1.0]]]}, "Function"),
        ({"outputs": [{"raised": 7}]}, "Function"),
        ({"outputs": 7}, "Function"),
        ({"unreadable": "x" * 301}, "Choice"),
        ("right", "Choice"),
    ],
)
def test_data_that_take_never_writes_is_unreadable(data, kind):
    """Data is sent by the student's own process: of the wrong shape or size it could break or hold
    up the judge.
    """
    bounded = sandbox._bounded(
        data, {"longest": LONGEST[kind], "needs": {"inputs": [1]} if kind == "Function" else {}}
    )
    assert set(bounded) == {"unreadable"}
    assert exercises.judge("ada", "transport.time", bounded).status == "could not read"


def test_without_bubblewrap_it_refuses_and_says_how_to_go_on(tmp_path, assignment, monkeypatch):
    """Running a class's code with all keys in reach must be somebody's decision."""
    monkeypatch.setenv("PATH", str(tmp_path))
    sent = write(tmp_path / "sent.ipynb", [*SETUP, *ANSWERS.values()])
    with pytest.raises(RuntimeError, match="bubblewrap is not installed"):
        sandbox.ready()
    with pytest.raises(RuntimeError, match="bubblewrap is not installed"):
        sandbox.collect(sent, "ada", assignment)
    sandbox.ready(unsafe=True)
    assert points(sandbox.collect(sent, "ada", assignment, unsafe=True)) == dict.fromkeys(IDS, 1.0)


@boxed
def test_a_bubblewrap_that_cannot_box_is_told_apart_from_a_student(
    tmp_path, assignment, monkeypatch
):
    """Where user namespaces are forbidden every student would get 0 points."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    sent = write(tmp_path / "sent.ipynb", [*SETUP, *ANSWERS.values()])
    with pytest.raises(RuntimeError, match="Permission denied"):
        sandbox.ready()
    with pytest.raises(RuntimeError, match="Permission denied"):
        sandbox.collect(sent, "ada", assignment)


@boxed
def test_a_released_notebook_that_does_not_run_is_the_instructors_fault(tmp_path):
    """A slip in the release must not be booked to every student."""
    broken = write(tmp_path / "released.ipynb", [*SETUP, "import nothing_of_this_name"])
    with pytest.raises(
        RuntimeError, match="released notebook itself does not run.*nothing_of_this_name"
    ):
        sandbox.collect(write(tmp_path / "sent.ipynb", SETUP), "ada", broken)
