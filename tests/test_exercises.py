"""The exercises as a student and an instructor meet them: numbers that stay, solutions that pass,
files without answers.
"""

import contextlib
import hashlib
import io
import itertools
import math
import re
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from jupyter_client import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from scipy import optimize, stats

from fabriclab import collectives
from fabriclab.classroom import strip
from fabriclab.course.engine import exercises
from fabriclab.course.engine.exercises import bank, example, levels, reader
from fabriclab.course.engine.exercises.core import Draw
from fabriclab.course.transport.exercises.collectives import ALGORITHMS
from fabriclab.link import NRZ, PAM4, bit_error_ratio
from fabriclab.units import GB, KB, MB, us

ROOT = Path(__file__).parents[1]
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))
STUDENTS = ["demo", "001", "1", "ADA", "ada", "zoé@example.org", "李雷", "o'neil"] + [
    f"s{n:04d}" for n in range(42)
]
MANY = [f"s{n:04d}" for n in range(300)]
FUNCTIONS = [i for i in exercises.ids() if hasattr(bank.find(i).kind, "names")]
QUANTITIES = [
    i
    for i in exercises.ids()
    if hasattr(bank.find(i).kind, "dimension") and not hasattr(bank.find(i).kind, "names")
]


def code_cells(path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def run_as(path, student):
    """Run a notebook's code as this student; the Student it made, and what it printed."""
    printed, names = io.StringIO(), {"__name__": "notebook"}
    with contextlib.redirect_stdout(printed):
        for cell in code_cells(path):
            exec(
                compile(
                    cell.source.replace('Student("demo")', f"Student({student!r})"),
                    str(cell.id),
                    "exec",
                ),
                names,
            )
    return names["me"], printed.getvalue()


def worked_lines(path):
    """Every line between solution markers."""
    for cell in nbformat.read(path, as_version=4).cells:
        for part in re.findall(
            r"### BEGIN SOLUTION[^\n]*\n(.*?)\n[^\n]*### END SOLUTION", cell.source, re.DOTALL
        ):
            yield from (line.strip() for line in part.splitlines() if line.strip())


PINNED = {
    "demo": {
        "crossover": {"alpha": 5 * us, "beta": 25 * GB},
        "ring": {"alpha": 5 * us, "beta": 50 * GB, "size": 200 * MB, "ranks": 128},
        "busbw": {"collective": "all_gather", "ranks": 32, "size": 2.0**28, "time": 14510 * us},
        "protocol": {"gpus": 512, "gradient": 2 * GB},
    },
    "001": {
        "crossover": {"alpha": 5 * us, "beta": 100 * GB},
        "ring": {"alpha": 2 * us, "beta": 25 * GB, "size": 50 * MB, "ranks": 128},
        "busbw": {"collective": "reduce_scatter", "ranks": 32, "size": 2.0**29, "time": 24293 * us},
    },
    "zoé@example.org": {
        "crossover": {"alpha": 1.5 * us, "beta": 50 * GB},
        "ring": {"alpha": 3 * us, "beta": 50 * GB, "size": 100 * MB, "ranks": 128},
        "busbw": {"collective": "all_gather", "ranks": 8, "size": 2.0**29, "time": 14549 * us},
    },
}
TIMES = {
    "demo": (6.64e-06, 8.577e-06, 1.625e-05, 4.604e-05, 0.0001656, 0.0006436, 0.002577),
    "zoé@example.org": (5.259e-06, 9.116e-06, 2.442e-05, 8.366e-05, 0.0003229, 0.001288, 0.005131),
}
OPTIONS = {
    "demo": ["The fast", "InfiniBa", "RDMA for both", "RDMA for the"],
    "001": ["InfiniBa", "RDMA for the", "RDMA for both", "The fast"],
}


@pytest.mark.parametrize("student", PINNED)
def test_the_same_id_has_the_same_numbers_for_ever(student):
    """A student's numbers would change between releases, machines or Pythons."""
    got = {
        name: {
            k: v for k, v in vars(bank.numbers(student, f"transport.{name}")).items() if k != "draw"
        }
        for name in PINNED[student]
    }
    assert got == PINNED[student]
    if student in TIMES:
        assert tuple(bank.numbers(student, "transport.fit").times) == TIMES[student]
    if student in OPTIONS:
        options = (
            bank.find("transport.protocol")
            .kind.lettered(bank.numbers(student, "transport.protocol"))
            .values()
        )
        assert all(
            option.text.startswith(start)
            for option, start in zip(options, OPTIONS[student], strict=True)
        )


def fingerprint(name):
    """What all test students are given in one exercise, options in their order included, as eight
    hex digits.
    """
    lines = []
    for student in STUDENTS:
        x = bank.numbers(student, name)
        lines += [
            f"{k}={v:.12g}" if type(v) is float else f"{k}={v}"
            for k, v in sorted(vars(x).items())
            if k != "draw"
        ]
        lines.append(
            " ".join(o.text[:12] for o in bank.find(name).kind.lettered(x).values())
            if hasattr(bank.find(name).kind, "lettered")
            else ""
        )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]


# A new exercise adds a line. A line that changes means that students' numbers have changed: do not.
FINGERPRINTS = {
    "opening.gradient": "eae1b20d",
    "opening.cliff": "179d761f",
    "opening.ladder": "41e41807",
    "opening.step": "4d43fd50",
    "opening.port": "43f54e3f",
    "opening.straggler": "e7ee68ca",
    "opening.pattern": "55cd0dac",
    "wires.eye": "68449da4",
    "wires.gray": "43f54e3f",
    "wires.codeword": "43f54e3f",
    "wires.hops": "ccf24b01",
    "wires.reach": "d4c9e21e",
    "wires.bill": "1ee9c6d6",
    "wires.share": "c0a798fc",
    "wires.unseen": "9e199985",
    "wires.diagnosis": "ed7d4def",
    "wires.geometry": "64839e90",
    "wires.burst": "709008a7",
    "transport.protocol": "c13bb453",
    "transport.fabric": "9236c660",
    "transport.crossover": "50d6d4ce",
    "transport.time": "1d2e93a1",
    "transport.break_even": "cd36ffe3",
    "transport.fit": "c6f2ee47",
    "transport.staging": "869dd1d7",
    "transport.tail": "476c88ba",
    "transport.ring": "147c3ce4",
    "transport.sharded": "c0182d02",
    "transport.threshold": "43f54e3f",
    "transport.write_ring": "43f54e3f",
    "transport.order": "1ba59ab6",
    "transport.busbw": "1c47ec80",
    "transport.guess": "1a5fb3be",
    "transport.bug": "43f54e3f",
    "transport.curve": "cf0856b1",
    "transport.objections": "f257fd84",
    "transport.invest": "f528ba55",
    "transport.explain": "e153785f",
    "topology.two_tier": "39ba5870",
    "topology.nonblocking": "0a1c3fda",
    "topology.bisection": "11977f63",
    "topology.third_tier": "f1f1d5cc",
    "topology.switches": "43f54e3f",
    "topology.money": "7ccfe85f",
    "topology.floor": "43f54e3f",
    "topology.alltoall": "43f54e3f",
    "topology.rack": "ea7bd709",
    "topology.spine": "49fa5c1d",
    "topology.rails": "94693210",
    "topology.one_hop": "2b204199",
    "topology.no_core": "26a67131",
    "topology.efficiency": "27668e73",
    "topology.order": "4b3fdc1c",
    "topology.pick": "b7910536",
    "topology.mixed": "a87b017a",
    "topology.leaf": "60abd28c",
    "topology.placement": "0645a021",
    "topology.axis": "46724e01",
    "topology.routes": "1dfd10bd",
    "wires.seen": "23b7ad27",
    "behaviour.cells": "ae67aa01",
    "behaviour.interval": "22e20025",
    "behaviour.idle": "bcfcaeb7",
    "behaviour.hiccups": "6587c9b6",
    "behaviour.headroom": "9665485f",
    "behaviour.spread": "1f80eae3",
    "behaviour.cycle": "9c97c605",
    "behaviour.loop": "607c847d",
    "behaviour.watchdog": "3b03bbf2",
    "behaviour.week": "3e004492",
    "behaviour.between": "03f9d54e",
    "behaviour.young": "43f54e3f",
    "behaviour.fill": "48714c22",
    "behaviour.write_queue": "43f54e3f",
    "behaviour.save": "5be3fdf1",
    "behaviour.stagger": "ee84b8fd",
    "behaviour.times": "23f9bd78",
    "behaviour.collision": "b0d5325c",
    "behaviour.speed": "957f2dfa",
    "behaviour.dcqcn": "47cddf44",
    "behaviour.utilisation": "1fddc5a4",
    "behaviour.diagnosis": "27f71aa2",
    "behaviour.rate": "3fc8cfa1",
    "behaviour.guess": "05a4eb21",
    "behaviour.bug": "43f54e3f",
    "behaviour.trace": "5a84f3da",
    "behaviour.objections": "59af1eb1",
    "behaviour.drain": "33bec978",
    "behaviour.explain": "43f54e3f",
    "behaviour.retry": "3c320c07",
    "behaviour.stale": "54cc02a1",
    "frontier.planes": "d012fff6",
    "cluster.buckets": "a0f1dcab",
    "cluster.silent": "e6cc977a",
    "cluster.money": "3ebdbd1c",
    "cluster.ring": "5c0735d7",
    "cluster.units": "374fdac5",
    "cluster.base": "83c36ee2",
    "sharing.caps": "28da0773",
    "sharing.four": "34478f5e",
    "sharing.burst": "5c608bcb",
    "sharing.rules": "18d8408a",
    "sharing.write": "43f54e3f",
    "sharing.lanes": "b063cf27",
    "monitoring.rates": "98aefb6c",
    "monitoring.full": "0bdccb4d",
    "monitoring.most": "43f54e3f",
    "monitoring.share": "e6ca3b38",
    "monitoring.trees": "fcf4da58",
    "monitoring.signs": "4945d6df",
    "monitoring.flat": "bd6ac50b",
    "monitoring.incident": "b1265ea5",
    "monitoring.order": "43f54e3f",
    "monitoring.checkpoint": "be1672e9",
    "frontier.ends": "c4faaa70",
    "frontier.fed": "fd20e9ed",
    "frontier.lane": "c7871f89",
    "frontier.claim": "33458a5a",
    "frontier.pool": "4b5c1ff1",
    "frontier.tiers": "43f54e3f",
    "scaleup.peer": "775d361e",
    "scaleup.packing": "43f54e3f",
    "scaleup.planes": "e8990b55",
    "scaleup.host": "44c9fac3",
    "scaleup.order": "59967e29",
    "scaleup.dies": "cffc9f34",
    "guide.tiers": "d19f7bab",
    "guide.busbw": "249065d5",
    "guide.settings": "2c6231ff",
    "guide.log": "f3a96da5",
    "guide.hour": "bcc518bd",
    "guide.hourly": "6f5ae484",
    "fallacies.upgrade": "1c090534",
    "fallacies.iperf": "6bba5453",
    "fallacies.loss": "f656524c",
    "fallacies.early": "53445c23",
    "fallacies.own": "43f54e3f",
    "design.stops": "6fcc740f",
    "design.order": "bf935bc5",
    "design.defence": "43f54e3f",
}


def test_no_list_of_numbers_has_changed():
    """Some student would open an old exercise and find other numbers in it."""
    assert {name: fingerprint(name) for name in exercises.ids()} == FINGERPRINTS


def test_the_draw_is_the_hash_it_promises():
    """The hash behind the numbers would drift where no pinned value looks; checked against
    sha256sum of 'demo NUL x NUL n'.
    """
    assert Draw("demo", "x").share("n") == int("bf1115f32c0b", 16) / 2**48


def test_an_id_in_either_unicode_form_is_one_student():
    """A name with an accent would get other numbers on a Mac than on Linux, or one typed in full
    width than in plain digits.
    """
    for name in ("zoé@example.org", "Ñandú", "Åse", "한글"):
        assert (
            exercises.Student(unicodedata.normalize("NFC", name)).id
            == exercises.Student(unicodedata.normalize("NFD", name)).id
        )
        assert Draw(unicodedata.normalize("NFC", name), "e").share("n") == Draw(
            unicodedata.normalize("NFD", f" {name} "), "e"
        ).share("n")
    assert exercises.Student("２０２６Ａ１").id == "2026A1" and Draw("２０２６Ａ１", "e").share(
        "n"
    ) == Draw("2026A1", "e").share("n")
    assert len({Draw(s, "e").share("n") for s in STUDENTS}) == len(STUDENTS)


@pytest.mark.parametrize(
    "student", [1, 1.0, None, b"ada", "", "  ", "a\nb", "x" * 201, "\ud800", ["ada"]]
)
def test_what_is_no_id_is_refused(student):
    """The id 001 typed as a number would quietly become 1."""
    with pytest.raises(ValueError, match="student id"):
        exercises.Student(student)


@pytest.mark.parametrize(
    "wrong", ["transport.crosover", "crossover", "", 3, None, "x" * 10**6, ["transport.crossover"]]
)
def test_an_unknown_exercise_lists_close_ones(wrong):
    """A misspelt exercise would end in a KeyError."""
    with pytest.raises(ValueError, match=r"did you mean .*transport\.crossover"):
        exercises.Student("demo").ask(wrong)


@pytest.mark.parametrize(
    "students", [STUDENTS[:16], pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"]
)
@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda p: p.name)
def test_every_solution_passes_for_every_student(path, students):
    """A worked solution would be wrong for some student's numbers."""
    for student in students:
        me, _ = run_as(path, student)
        states = {name: question.status for name, question in me.questions.items()}
        assert set(states.values()) <= {"right", "for the instructor"}, (student, states)
        assert me.points() == sum(not q.exercise.kind.by_hand for q in me.questions.values()) > 0


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda p: p.name)
def test_no_blank_passes_and_every_exercise_is_asked(path):
    """An unanswered notebook would earn points, or an exercise of the bank would be asked
    nowhere.
    """
    for student in STUDENTS[:10]:
        me, printed = run_as(ROOT / "exercises" / path.name, student)
        assert {q.status for q in me.questions.values()} == {"not attempted"} and me.points() == 0
        assert printed.count("Not attempted yet") == len(me.questions)
    part = next(iter(me.questions)).split(".")[0]
    assert sorted(me.questions) == sorted(exercises.ids(part))


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda p: p.name)
def test_the_students_files_are_what_the_solutions_make(path):
    """exercises/ would differ from solutions/: run `make exercises`."""
    text = path.read_text(encoding="utf-8")
    assert strip.strip(text, path.name) == (ROOT / "exercises" / path.name).read_text(
        encoding="utf-8"
    )
    assert {p.name for p in (ROOT / "exercises").glob("*.ipynb")} == {p.name for p in SOLUTIONS}


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda p: p.name)
def test_no_answer_is_left_in_a_students_file(path):
    """A worked line, an output, a rubric or the demo student's right number would reach
    students.
    """
    notebook = nbformat.read(ROOT / "exercises" / path.name, as_version=4)
    sources = "\n".join(cell.source for cell in notebook.cells)
    whole = (ROOT / "exercises" / path.name).read_text(encoding="utf-8")
    shown = [
        output["data"]["text/markdown"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "display_data"
    ]
    assert not any(cell.get("execution_count") for cell in notebook.cells)
    assert "SOLUTION" not in whole and "ubric" not in whole
    lines = list(worked_lines(path))
    assert len(lines) > 20
    for line in lines:
        assert len(line) < 6 or line not in sources, line
    me, _ = run_as(path, "demo")
    assert shown == [question.markdown for question in me.questions.values()]
    for name in set(me.questions) & set(QUANTITIES):
        kind, x = bank.find(name).kind, bank.numbers("demo", name)
        assert (
            not re.search(
                rf"(?<![\w.]){re.escape(reader.show(kind.key(x), kind.dimension))}(?!\w)", whole
            )
            and repr(kind.key(x)) not in whole
        )


@pytest.fixture
def kernel():
    manager = AsyncKernelManager(kernel_name="python3")
    yield manager
    run_sync(manager.shutdown_kernel)(now=True)


def test_the_students_notebook_runs_to_its_end_unanswered(kernel):
    """A blank would stop the notebook, or print a warning where a student reads."""
    for path in SOLUTIONS:
        notebook = nbformat.read(ROOT / "exercises" / path.name, as_version=4)
        # one kernel for all, with nothing left in it from the notebook before
        notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
        NotebookClient(notebook, timeout=300, km=kernel).execute()
        outputs = [
            output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
        ]
        assert not any(o.output_type == "error" or o.get("name") == "stderr" for o in outputs)
        assert sum(
            "text/markdown" in o.get("data", {}) and "text/plain" in o.data for o in outputs
        ) == sum(".ask(" in c.source for c in code_cells(path))


# what a data sheet prints, in GB/s both ways and Gb/s one way
SOLD = {"NVLink 3": 600, "NVLink 4": 900, "NVLink 5": 1800, "EDR": 100, "HDR": 200, "NDR": 400}


CLOSED_FORMS = {
    "opening.gradient": lambda x: x.parameters * {"FP32": 4, "BF16": 2}[x.precision] / x.beta,
    "opening.cliff": lambda x: SOLD[x.nvlink] / 2 / (SOLD[x.port] / 8),
    "opening.step": lambda x: (
        (x.forward + x.backward)
        / (x.forward + x.backward + x.communication - x.overlap * x.backward)
    ),
    "opening.straggler": lambda x: x.gpus * 24 * x.price * x.delay / (x.step + x.delay),
    "wires.eye": lambda x: 10 ** (-x.loss / 20) / 3,
    "wires.hops": lambda x: {2: 3, 3: 5, 4: 7}[x.tiers] * x.per_switch,
    "wires.reach": lambda x: (x.budget - x.connectors - x.margin) / x.per_metre,
    "wires.bill": lambda x: 2 * x.hosts * 2 * x.watts,
    "wires.share": lambda x: x.network / (x.network + 700 * x.gpus),
    "wires.unseen": lambda x: 3 / (8 * x.rate * x.time),
    "wires.burst": lambda x: 5 * x.ways * (x.n - x.k) - 9,
    "topology.placement": lambda x: min(x.most, x.rest) / x.up,
    "behaviour.rate": lambda x: x.days * 86_400 * x.theirs / (x.events * x.mine),
    "behaviour.stale": lambda x: 2 * math.sin(math.pi / (2 * (2 * x.workers - 1))) / x.curvature,
    "behaviour.retry": lambda x: (
        (1 - x.ber) ** (8 * x.packet * x.cables)
        / (1 + (1 - (1 - x.ber) ** (8 * x.packet * x.cables)) * (x.window - 1))
    ),
    "frontier.planes": lambda x: (x.chip / x.nic * x.planes) ** 2 / 2,
    "transport.crossover": lambda x: x.alpha * x.beta,
    "transport.time": lambda x: x.alpha + x.size / x.beta,
    "transport.break_even": lambda x: (
        (x.other_alpha - x.alpha) * x.beta * x.other_beta / (x.other_beta - x.beta)
    ),
    "transport.staging": lambda x: x.size + x.size,
    "transport.tail": lambda x: (1 - x.share) * x.size / x.beta,
    "transport.sharded": lambda x: 6 * x.parameters * (1 - 1 / x.ranks) / x.rate,
    "transport.ring": lambda x: 2 * (x.ranks - 1) * (x.alpha + x.size / x.ranks / x.beta),
    "transport.busbw": lambda x: (
        x.size
        / x.time
        * {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}[x.collective]
        * (x.ranks - 1)
        / x.ranks
    ),
    "topology.two_tier": lambda x: x.radix**2 / 2,
    "topology.bisection": lambda x: x.leaves * x.wired[0] / 2 * x.rate / (x.wired[0] / x.wired[1]),
    "topology.third_tier": lambda x: (5 - 3) * x.switch + (6 - 4) * x.cable,
    "topology.money": lambda x: x.capital * x.share * (x.ratio - 1) / (1 + x.share * (x.ratio - 1)),
    "topology.spine": lambda x: x.wired[0] * 16 * x.rate * (1 - 1 / x.wired[1]),
    "topology.one_hop": lambda x: x.radix - x.radix / (x.ratio + 1),
    "topology.efficiency": lambda x: 1 / (1 + (1 - x.before) / x.before / x.speedup),
    "topology.axis": lambda x: x.side / 8 * x.size / x.rate,
    "topology.routes": lambda x: (x.hosts - x.kept) * x.size / x.rate,
    "wires.seen": lambda x: (
        optimize.brentq(lambda mean: stats.poisson.cdf(x.errors, mean) - 0.05, 0, 100)
        / (8 * x.rate * x.time)
    ),
    # IEEE 802.3 annex 31B: 394, 453, 905 quanta of 512 bits
    "behaviour.cells": lambda x: (
        x.cell
        / 64
        * (
            10e-9 * x.length * x.rate
            + 64 * {100: 394, 200: 453, 400: 905}[round(x.rate * 8e-9)]
            + x.packet
            + 819.2
        )
        + x.packet
    ),
    "behaviour.interval": lambda x: (
        optimize.minimize_scalar(
            lambda t: math.expm1((t + x.cost) / x.mtbf) / t, bounds=(1, x.mtbf), method="bounded"
        ).x
    ),
    "topology.leaf": lambda x: 400 * x.down / (400 * x.up + 100 * x.lanes * x.slow),
    # by hand: the slope from the two largest rows, then what is left of the smallest
    "transport.fit": lambda x: (
        x.times[0] - x.sizes[0] * (x.times[-1] - x.times[-2]) / (x.sizes[-1] - x.sizes[-2])
    ),
    "fallacies.upgrade": lambda x: (
        1 - (x.alpha + x.size / x.faster / x.beta) / (x.alpha + x.size / x.beta)
    ),
    # the loss at which go-back-N's goodput falls to what is asked for
    "fallacies.loss": lambda x: optimize.brentq(
        lambda p: (1 - p) / (1 - p + p * x.rate * x.trip / 4000) - x.goodput, 0, 1, xtol=1e-15
    ),
    # a codeword is 5,440 bits at 17/16 of the data rate; the binomial tail meets one a day where
    # brentq finds it
    "fallacies.early": lambda x: (
        x.decade
        * math.log10(
            10
            ** optimize.brentq(
                lambda e: math.log(
                    x.rate
                    * 8
                    * 1.0625
                    / 5440
                    * 86_400
                    * stats.binom.sf(15, 544, 1 - (1 - 10**e) ** 10)
                ),
                -4.5,
                -2,
            )
            / x.now
        )
    ),
}


def on_ramp(x):
    """The most flows for which the settings of Zhu et al.

    2015, marking at Pmax, still hold the rates down; written out from the fluid model.
    """
    capacity, p, flows = x.rate / 1000, x.pmax, 0
    while True:
        rate = capacity / (flows + 1)
        cut, alpha = (1 - (1 - p) ** (every * rate) for every in (50e-6, 55e-6))
        counter, timer = ((1 - p) ** -packets for packets in (10e6 / 1000, 55e-6 * rate))
        b, c = p / (counter - 1), p / (timer - 1)
        if cut**2 * alpha < 50e-6**2 * 5000 * rate * (b + c) * (b * counter**-5 + c * timer**-5):
            return flows
        flows += 1


def speed_by_counting(x):
    """Mean speed of the slowest flow, by filling the paths one after another and counting ways:
    {(flows left, fullest): ways}.
    """
    ways = {(x.flows, 0): 1}
    for _ in range(x.paths):
        after = {}
        for (left, most), n in ways.items():
            for here in range(left + 1):
                key = left - here, max(most, here)
                after[key] = after.get(key, 0) + n * math.comb(left, here)
        ways = after
    return (
        sum(n * x.flows / x.paths / most for (left, most), n in ways.items() if left == 0)
        / x.paths**x.flows
    )


CLOSED_FORMS |= {
    "transport.curve": lambda x: x.sizes[8] * x.times[0] / (x.times[8] - x.times[0]),
    "behaviour.trace": lambda x: 50e9 + max(x.queue) / x.step / x.queue.index(max(x.queue)),
    "behaviour.idle": lambda x: (x.gpus - 1) * x.drop / (1 - x.drop),
    "behaviour.hiccups": lambda x: x.compute + x.delay * (1 - (1 - x.chance) ** x.workers),
    "behaviour.headroom": lambda x: x.rate * (x.length * 10e-9 + x.reaction) + 2 * x.packet,
    "behaviour.spread": lambda x: x.hops * x.buffer / (50e9 - x.takes) + x.hops * x.trip,
    "behaviour.watchdog": lambda x: x.detection + x.timeout + x.flows * x.in_flight / 50e9,
    "behaviour.week": lambda x: -math.expm1(14 * x.gpus * x.tiers * math.log1p(-x.ppm / 1e6)),
    "behaviour.between": lambda x: 86_400e6 / (2 * x.gpus * x.tiers * x.ppm),
    "behaviour.fill": lambda x: x.buffer / (x.rate * (x.ports - 2)),
    "behaviour.loop": lambda x: x.switches * x.rate / x.ttl,
    "behaviour.stagger": lambda x: x.size / x.rate - x.buffer / x.rate / (x.senders - 1),
    "behaviour.save": lambda x: math.floor((x.buffer - x.mark_at) / (x.trip * x.rate) + 1 + 1e-9),
    "behaviour.collision": lambda x: math.prod((x.flows - i) / x.flows for i in range(x.flows)),
    "behaviour.speed": speed_by_counting,
    "behaviour.dcqcn": on_ramp,
    "behaviour.utilisation": lambda x: x.busy / (1 + x.more / x.before),
    # the network either waits for every bucket, or only for the first
    "cluster.buckets": lambda x: (
        x.forward + x.backward * max(1 + x.share / x.buckets, 1 / x.buckets + x.share)
    ),
    "cluster.silent": lambda x: x.gpus * x.days * 24 * x.share * (1 / (1 - x.loss) - 1),
    "cluster.money": lambda x: x.gpus * x.days * 24 * x.price * (1 - 1 / (1 + x.longer)),
    "cluster.ring": lambda x: 2 * (x.ranks - 1) * (1.5e-6 + x.size / x.ranks / (x.left * 12.5e9)),
    # one node less breaks one replica, whatever its size
    "cluster.units": lambda x: 256 * x.units - 8 * x.nodes,
    "cluster.base": lambda x: 5600 * x.share / (10_200 + 5600 * x.share),
    "sharing.caps": lambda x: x.size * (x.functions - x.busy) / x.rate,
    "sharing.four": lambda x: (50e9 - x.first - x.second) * x.weight / (x.weight + 1),
    # the checkpoint is done first for all draws: by then all bytes of both have passed
    "sharing.burst": lambda x: x.size * (1 + x.part) / 50e9,
    "monitoring.rates": lambda x: 4 * x.sent / x.seconds,
    "monitoring.full": lambda x: 17_179_869_184 / x.load / x.rate,
    "monitoring.share": lambda x: x.more / (48e9 / x.left - 1),
    "monitoring.trees": lambda x: 2 * x.size / 50e9 * x.slowdown / {"port": 1, "cable": 2}[x.place],
    # chips of 64, 128 and 256 ports of 400G hold 2,048, 8,192 and 32,768 hosts under two tiers, all
    # of these under three
    "frontier.ends": lambda x: (
        2
        * x.hosts
        * x.watts
        * (
            1
            if x.hosts <= {25.6: 2048, 51.2: 8192, 102.4: 32_768}[round(8 * x.chip / 1e12, 1)]
            else 2
        )
    ),
    "frontier.fed": lambda x: x.switches * x.ports * (x.module - x.engine) / 1275,
    "frontier.lane": lambda x: 8 * x.rate * x.energy,
    "frontier.pool": lambda x: x.slower * 85 / (x.pool * 1e9 - 85),
    "scaleup.peer": lambda x: x.both / (2 * (x.devices - 1)),
    "scaleup.planes": lambda x: -(-round(x.both / 2) // round(x.port)),
    # of 800 Gb/s sixteen lanes of generation 6 have 1024 x 236/256; of 400 and 200 the ones before
    # 512 and 256 x 128/130
    "scaleup.host": lambda x: (
        1.28
        * (
            236 / 256 * x.payload / (x.payload + 16)
            if x.generation == 6
            else 128 / 130 * x.payload / (x.payload + 24)
        )
    ),
    "guide.tiers": lambda x: x.both / 2 / (x.ports * x.port / 8),
    "guide.busbw": lambda x: x.size / x.time * 14 / 8 / 450e9,
    "guide.hour": lambda x: math.exp(-(x.gpu + x.flaps + x.power) * x.gpus / 2_400_000),
    # an hour squared is twice the checkpoint times the time between failures, which is a day over
    # the failures of it
    "guide.hourly": lambda x: (
        2 * x.cost * 86_400 / 3600**2 / ((x.gpu + x.flaps + x.power) / 100_000)
    ),
}


@pytest.mark.parametrize("name", QUANTITIES)
def test_the_key_is_what_the_closed_form_gives(name):
    """A key would ask for something else than the formula of the chapter; done by hand it must come
    out right.
    """
    for student in STUDENTS:
        assert (
            exercises.grade(student, name, CLOSED_FORMS[name](bank.numbers(student, name))).status
            == "right"
        ), student


@pytest.mark.parametrize("name", QUANTITIES)
def test_an_exercises_own_slips_are_named_for_every_student(name):
    """A slip would pass as right, or go by unnamed, for some numbers."""
    for student in STUDENTS:
        x = bank.numbers(student, name)
        for slip in bank.find(name).kind.slips:
            result = exercises.grade(student, name, slip.value(x))
            if slip.name == "unweighted fit" and result.status == "right":
                continue  # the noise of this student's table may spare it
            assert result.status == "wrong" and slip.name in result.slips, (
                student,
                slip.name,
                result,
            )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_functions_own_slips_are_named(name):
    """A slip in a function would pass as right for some student's inputs, or another be named in
    its place.
    """
    for student in STUDENTS:
        for slip, _, function in bank.find(name).kind.slips:
            assert (
                slip in exercises.grade(student, name, function).slips
                or slip == "one less the rest"
            ), (student, slip)


FORMULAS = [i for i in exercises.ids() if hasattr(bank.find(i).kind, "points")]


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formulas_own_slips_are_named(name):
    """A slip in a formula would pass as right, or its function would be another than its
    words say.
    """
    kind = bank.find(name).kind
    for student in STUDENTS[:10]:
        points = kind.points(Draw(student, name))
        for slip, _, wrong in kind.slips:
            far = [abs(wrong(**point) / kind.key(**point) - 1) for point in points]
            assert max(far) > 1e-6, (student, slip)
            others = [
                other
                for other, _, function in kind.slips
                if other != slip
                and all(function(**p) == pytest.approx(wrong(**p), rel=1e-9) for p in points)
            ]
            assert not others, (student, slip, others)


CLOSED_FORMULAS = {
    "topology.switches": lambda N, k, t: 2 * (t - 1) * N / k + N / k,
    "topology.alltoall": lambda M, N, d, r, beta: r * M * (N - d) / N / beta,
}


@pytest.mark.parametrize("name", CLOSED_FORMULAS)
def test_a_count_of_the_wiring_is_what_the_closed_formula_gives(name):
    """The network that a formula is compared with would be wired otherwise than its prompt says."""
    kind = bank.find(name).kind
    for student in STUDENTS:
        for point in kind.points(Draw(student, name)):
            assert kind.key(**point) == pytest.approx(CLOSED_FORMULAS[name](**point), rel=1e-12), (
                point
            )


@pytest.mark.parametrize("slip", range(6))
def test_a_floors_slips_are_named_for_every_student(slip):
    """A ring's bound from the wrong one of port and cut would pass, or go by unnamed, on some
    student's fabrics.
    """
    name, _, wrong = bank.find("topology.floor").kind.slips[slip]
    for student in STUDENTS:
        result = exercises.grade(student, "topology.floor", wrong)
        assert result.status == "wrong" and result.slips == (name,), (student, result)


def test_four_fabrics_stand_far_apart_for_every_draw():
    """Two fabrics would be so close in bisection per host that rounding decides a student's
    mark.
    """
    kind = bank.find("topology.order").kind
    for student in STUDENTS:
        x = bank.numbers(student, "topology.order")
        values = sorted(kind.values(x).values())
        assert all(b > 1.1 * a for a, b in itertools.pairwise(values)), (student, values)
        by_hand = {
            "full tree": 1 / 2,
            "tapered tree": 1 / 2 / x.ratio,
            "dragonfly": 272 / 1056,
            "torus": 2 / x.side,
        }
        assert kind.values(x) == pytest.approx(by_hand)


TAILS = {
    "bits for symbols": lambda b: stats.binom.sf(15, 544, b),
    "lost at 15": lambda b: stats.binom.sf(14, 544, 1 - (1 - b) ** 10),
    "corrects 30": lambda b: stats.binom.sf(30, 544, 1 - (1 - b) ** 10),
    "one less the rest": lambda b: 1 - stats.binom.cdf(15, 544, 1 - (1 - b) ** 10),
}


@pytest.mark.parametrize("slip", TAILS)
def test_a_codewords_slips_are_named_for_every_student(slip):
    """A tail that counts bits, or one taken from 1, would pass as right or go by unnamed."""
    for student in STUDENTS:
        result = exercises.grade(student, "wires.codeword", TAILS[slip])
        assert result.status == "wrong" and (slip in result.slips or slip == "one less the rest"), (
            student,
            result,
        )


def test_the_gray_formula_is_the_limit_of_the_models_own():
    """Exercise and model would teach different bit error ratios for NRZ and PAM4."""
    kind = bank.find("wires.gray").kind
    for code, noise in ((NRZ, 1), (PAM4, 5)):
        q = stats.norm.sf(math.sqrt(10**2.2 / noise))
        assert kind.key(2**code.bits, q) == pytest.approx(bit_error_ratio(22, code), rel=1e-6)


def test_most_students_meet_the_unweighted_fits_fault():
    """The fit exercise would teach nothing: an unweighted fit would come out right for most."""
    slip = next(s for s in bank.find("transport.fit").kind.slips if s.name == "unweighted fit")
    right = [
        exercises.grade(s, "transport.fit", slip.value(bank.numbers(s, "transport.fit"))).status
        == "right"
        for s in STUDENTS
    ]
    assert sum(right) < len(STUDENTS) / 3


@pytest.mark.parametrize("name", QUANTITIES)
def test_nothing_a_student_reads_holds_the_right_number(name):
    """A prompt, a hint or the feedback on a wrong answer would print the key."""
    for student in STUDENTS[:16]:
        exercise, x = bank.find(name), bank.numbers(student, name)
        key = exercise.kind.key(x)
        shown, digits = (
            reader.show(key, exercise.kind.dimension),
            f"{key:.3e}".split("e")[0].replace(".", "").rstrip("0"),
        )
        # the first line is the title, with the minutes that are the same for everybody
        asked = exercises.Question(exercises.Student(student), name).text.partition("\n")[2]
        read = [asked, *example.rungs(exercise, x)]
        verdicts = [
            exercises.grade(student, name, a)
            for a in (
                key * 8,
                key / 2,
                key * 1.37,
                "3 W",
                "seven",
                *(s.value(x) for s in exercise.kind.slips),
            )
        ]
        read += [verdict.message for verdict in verdicts if verdict.status != "right"]
        for text in read:
            assert not re.search(rf"(?<![\d.]){re.escape(shown)}(?!\w)", text), (student, text)
            if len(digits) >= 3:
                assert digits not in {
                    number.replace(",", "").replace(".", "").strip("0")
                    for number in re.findall(r"\d[\d,.]*", text)
                }, (student, text)
        quoted = re.search(r'`"(.*?)"`', exercise.kind.wants(x))  # a plain number needs none
        assert (
            exercise.kind.dimension == "number"
            if quoted is None
            else exercises.grade(student, name, quoted[1]).status == "wrong"
        )


def test_the_order_of_algorithms_is_clear_for_every_draw():
    """Two algorithms would be so close that rounding decides a student's mark."""
    for size, ranks in itertools.product((10 * KB, 1 * MB, 100 * MB), (64, 256, 1024)):
        times = sorted(cost(size, ranks, 1.5 * us, 50 * GB) for cost in ALGORITHMS.values())
        assert all(b > 1.02 * a for a, b in itertools.pairwise(times)), (size, ranks)


def test_the_order_of_time_scales_is_clear_for_every_draw():
    """Two times would be so close that rounding decides a student's mark; or a drawn number would
    be missing here.
    """
    draws = itertools.product((3, 6, 11, 33, 63), (100, 200, 400), (16, 32, 64))
    for (
        senders,
        rate,
        buffer,
    ) in draws:  # in bits: 200 m of fibre, the incast, 65,535 quanta, the buffer, 200 ms
        times = sorted(
            [
                1e-6,
                8e6 * buffer / ((senders - 1) * rate * 1e9),
                65_535 * 512 / (rate * 1e9),
                8e6 * buffer / (rate * 1e9),
                0.2,
            ]
        )
        assert all(b > 1.2 * a for a, b in itertools.pairwise(times)), (senders, rate, buffer)
    assert {bank.numbers(s, "behaviour.times").senders for s in STUDENTS} == {3, 6, 11, 33, 63}


def test_the_order_of_rules_is_clear_for_every_draw():
    """Two rules would be too close to order, or a limit that holds the AllReduce below its lane's
    share would come out as the better.
    """
    for student in STUDENTS:
        x, kind = bank.numbers(student, "sharing.rules"), bank.find("sharing.rules").kind
        order = sorted(kind.values(x), key=kind.values(x).get)
        assert order[0] == "strict priority" and order[-1] == "one lane"
        assert (order[1] == "rate limit") == (x.cap > x.weight / (x.weight + 1))
        times = sorted(kind.values(x).values())
        assert all(later > 1.04 * earlier for earlier, later in itertools.pairwise(times))


def test_the_order_of_settings_is_clear_for_every_draw():
    """Two of NCCL's settings would be so close that rounding decides a student's mark; or the order
    not be that of what is left of 400 GB/s.
    """
    values = bank.find("guide.settings").kind.values
    for size, nodes in itertools.product((2e9, 4e9, 16e9), (4, 8, 16)):
        times = values(SimpleNamespace(size=size, nodes=nodes))
        # by hand: two ports; PCIe 5 one way; one port; LL's most (Intel, NCCL 2.27); TCP
        left = {
            "two channels": 100,
            "host memory": 63,
            "one adapter": 50,
            "low latency": 20.4,
            "sockets": 3.75,
        }
        assert sorted(times, key=times.get) == list(left) and all(
            b > 1.2 * a for a, b in itertools.pairwise(sorted(times.values()))
        )
        assert all(
            times[name] == pytest.approx(2 * size / (left[name] * 1e9), rel=0.15) for name in left
        ), (size, nodes)


def test_the_interval_is_where_the_loss_is_least():
    """The formula of the checkpoint exercise would not be the minimum of the loss its prompt
    describes.
    """
    for cost, mtbf in ((1, 1e3), (60, 86_400), (300, 1e6)):
        best = optimize.minimize_scalar(
            lambda tau, c=cost, m=mtbf: c / tau + tau / (2 * m),
            bounds=(1e-3, mtbf),
            options={"xatol": 1e-6},
        )
        assert bank.find("behaviour.young").kind.key(C=cost, M=mtbf) == pytest.approx(
            best.x, rel=1e-4
        )


def test_the_thresholds_points_keep_the_model_off_its_edges():
    """The formula would be compared where the start-ups outlast the phase and the model gives 0."""
    for student in STUDENTS:
        for point in bank.find("transport.threshold").kind.points(
            Draw(student, "transport.threshold")
        ):
            payload = collectives.hidden_payload(
                point["t"], point["N"], point["alpha"], point["beta"]
            )
            assert payload > 0 and collectives.ring_allreduce(
                payload, point["N"], point["alpha"], point["beta"]
            ) == pytest.approx(point["t"])


@pytest.mark.parametrize("name", exercises.ids())
def test_every_exercise_is_whole(name):
    """An exercise without a Chinese title, a hint or a line on why it matters would go out; numbers
    would hide methods.
    """
    exercise, question = bank.find(name), exercises.Question(exercises.Student("demo"), name)
    assert (
        exercise.hints
        and re.search(r"[\u4e00-\u9fff]", exercise.chinese)
        and exercise.moral
        or exercise.kind.by_hand
        or name == "transport.protocol"
    )
    assert len(exercise.prompt(bank.numbers("demo", name))) < 620
    assert not set(vars(question._numbers)) & (
        set(dir(exercises.Question)) | {"student", "exercise", "verdict"}
    )


def test_a_question_speaks_in_a_notebooks_order(capsys):
    """Hints would come all at once, or the verdict be lost to the grader."""
    me = exercises.Student("demo")
    q = me.ask("transport.crossover")
    assert (
        q.alpha == pytest.approx(5 * us)
        and q.beta == 25 * GB
        and "α = 5 us" in capsys.readouterr().out
    )
    assert q.check("1 Mb") is None and q.verdict.status == "right" and me.points() == 1
    assert q.check("1 MB") is None and q.verdict.slips == ("bits for bytes",) and me.points() == 0
    capsys.readouterr()
    for start in ("Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", *2 * ["That was the last hint"]):
        assert q.hint() is None and capsys.readouterr().out.startswith(start)
    assert me.ask("transport.crossover") is q
    capsys.readouterr()
    me.progress()
    assert capsys.readouterr().out.endswith("wrong after 2 tries\n0 of 1 right.\n")
    with pytest.raises(AttributeError, match="it has alpha, beta"):
        q.gamma


NOTEBOOK = nbformat.v4.new_notebook
ANSWER = {
    "nbgrader": {
        "grade": False,
        "grade_id": "a",
        "locked": False,
        "schema_version": 3,
        "solution": True,
        "task": False,
    }
}


def one_cell(source, metadata=ANSWER):
    return nbformat.writes(
        NOTEBOOK(cells=[nbformat.v4.new_code_cell(source, id="a", metadata=metadata)])
    )


MALFORMED = [
    "### BEGIN SOLUTION\nx = 1",
    "x = 1\n### END SOLUTION",
    "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION",
    "### END SOLUTION\n### BEGIN SOLUTION",
    "### BEGIN SOLUTON\nx\n### END SOLUTON",
    "## BEGIN SOLUTION\nx\n### END SOLUTION",
    "### begin solution\nx\n### end solution",
    "### BEGIN SOLUTION\nx\n### END SOLUTION\n### END SOLUTION",
    "x = 1  ### BEGIN SOLUTION\n### END SOLUTION",
]


@pytest.mark.parametrize("source", MALFORMED)
def test_a_marker_out_of_balance_stops_everything(source, tmp_path):
    """A misspelt or unbalanced marker would let an answer through to students, or leave half the
    files written.
    """
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "01-good.ipynb").write_text(
        one_cell("### BEGIN SOLUTION\nx = 1\n### END SOLUTION")
    )
    (tmp_path / "solutions" / "02-bad.ipynb").write_text(one_cell(source))
    with pytest.raises(SystemExit, match="nothing written: 02-bad.ipynb, cell 1"):
        strip.main(tmp_path)
    assert not (tmp_path / "exercises").exists()


def test_a_solution_in_a_cell_nbgrader_does_not_know_stops_everything(tmp_path):
    """nbgrader's own pipeline would refuse the notebook that ours accepts."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "01.ipynb").write_text(
        one_cell("### BEGIN SOLUTION\nx = 1\n### END SOLUTION", {})
    )
    with pytest.raises(SystemExit, match="nothing written"):
        strip.main(tmp_path)


def test_making_the_exercises_twice_changes_nothing(tmp_path, capsys):
    """`make exercises` would show a difference on every run."""
    (tmp_path / "solutions").mkdir()
    for path in SOLUTIONS:
        (tmp_path / "solutions" / path.name).write_bytes(path.read_bytes())
    strip.main(tmp_path)
    first = {p.name: p.read_bytes() for p in (tmp_path / "exercises").iterdir()}
    strip.main(tmp_path)
    same = first == {p.name: p.read_bytes() for p in (tmp_path / "exercises").iterdir()}
    assert same and first


CHOICES = [i for i in exercises.ids() if type(bank.find(i).kind).__name__ == "Choice"]
BLIND = {
    "the longest": len,
    "the shortest": lambda text: -len(text),
    "the most digits": lambda text: len(re.findall(r"\d", text)),
    "the most clauses": lambda text: len(re.findall(r"[:;,]", text)),
}


def blind(rule, student):
    """The share of all choices that a student gets right who reads nothing and follows `rule`."""
    got = 0.0
    for name in CHOICES:
        kind, x = bank.find(name).kind, bank.numbers(student, name)
        options = [(rule(kind.wording(o, x)), o.right) for o in kind.lettered(x).values()]
        top = [right for value, right in options if value == max(options)[0]]
        got += sum(top) / len(top)
    return got / len(CHOICES)


@pytest.mark.parametrize("rule", BLIND)
def test_a_choice_cannot_be_made_without_reading(rule):
    """A rule that looks at the form of an option alone, such as its length, would find the right
    one more often than a die.
    """
    shares = [blind(BLIND[rule], student) for student in STUDENTS]
    assert 0.08 <= sum(shares) / len(shares) <= 0.25 and max(shares) < 0.3


@pytest.mark.parametrize("name", CHOICES)
def test_an_option_may_be_given_in_any_of_its_wordings(name):
    """A neighbour's wording of the same option would be refused, everybody would read the same
    words, or a wrong option be a scrap beside the others.
    """
    kind, read = bank.find(name).kind, set()
    for student in STUDENTS:
        x = bank.numbers(student, name)
        for option in kind.options:
            for text in (option.text, *option.also):
                verdict = exercises.grade(student, name, text)
                assert verdict.status == ("right" if option.right else "wrong")
                assert option.right or verdict.slips == (option.text,)
        read.add(next(kind.wording(o, x) for o in kind.options if o.right))
        assert all(f": {kind.wording(o, x)}\n" in kind.wants(x) for o in kind.options)
    lengths = [len(text) for o in kind.options for text in (o.text, *o.also)]
    assert len(read) > 1 and max(lengths) < 2 * min(lengths)


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.name)
def test_the_first_words_count_the_questions_and_their_minutes(path):
    """A sheet would announce thirteen questions and an hour, and hold twenty of two and a half; and
    the table of README or of notebook 00 another number.
    """
    notebook = nbformat.read(path, as_version=4)
    asked = re.findall(r'me\.ask\("(.+?)"\)', "\n".join(c.source for c in notebook.cells))
    words = "no one two three four five six seven eight nine ten eleven twelve".split()
    number, minutes = re.search(
        r"\n\n(\S+) exercises.*?About (\d+) minutes", notebook.cells[0].source, re.DOTALL
    ).groups()
    assert number.lower() == (words[len(asked)] if len(asked) < 13 else str(len(asked)))
    assert abs(int(minutes) - sum(levels.of(name).minutes for name in asked)) <= 5
    for place in ("README.md", "notebooks/00-start-here.ipynb"):
        table = (ROOT / place).read_text(encoding="utf-8")
        assert re.search(rf"\[{len(asked)}\]\((\.\./)?exercises/{path.name}\)", table), place


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.name)
def test_sections_run_from_easy_to_hard(path):
    """A student would meet a hard question first and stop there; only what an exercise builds on
    may be harder than it and stand before it.
    """
    section, before = "", []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            section, before = cell.source, []
        for name in re.findall(r'me\.ask\("(.+?)"\)', cell.source):
            rank = levels.LEVELS.index(levels.of(name).level)
            harder = {n for n in before if levels.LEVELS.index(levels.of(n).level) > rank}
            assert harder <= built_on(name), (section, name, harder)
            before.append(name)


def built_on(name):
    """All exercises that one needs, and that those need."""
    needs = set(levels.of(name).needs)
    return needs.union(*map(built_on, needs))
