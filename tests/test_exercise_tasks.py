"""The kinds that ask for judgement: estimates, bugs, objections, decisions, explanations."""

import itertools
import math

import pytest

from fabriclab import collectives
from fabriclab.classroom import standin
from fabriclab.course.engine import exercises
from fabriclab.course.engine.exercises import bank, sheet, tasks
from fabriclab.units import us

STUDENTS = ["demo", *(f"s{n:04d}" for n in range(299))]


def of(kind):
    return [name for name in bank.ids() if type(bank.find(name).kind) is kind]


KINDS = (tasks.Estimate, tasks.Bug, tasks.Several, tasks.Decision, tasks.Explain)
NAMES = [name for kind in KINDS for name in of(kind)]


def grade(name, answer, student="demo"):
    return exercises.grade(student, name, answer)


def in_the_box(name, answer, student="demo"):
    """The verdict by the way a class goes: the kind is rebuilt from plain data, and takes alone."""
    kind = bank.find(name).kind
    asked = standin.sheet(student, [name])[name]
    assert standin.plain(asked) and "key" not in asked["needs"]
    data = type(kind).rebuild(asked["needs"]).take(answer, None)
    assert standin.plain(data)
    return bank.judge(student, name, data)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_asked_twice_in_different_parts(kind):
    """A kind would be a curiosity of one notebook."""
    assert len({name.partition(".")[0] for name in of(kind)}) >= 2


@pytest.mark.parametrize("name", NAMES)
def test_what_a_kind_calls_right_is_right_at_home_in_class_and_on_paper(name):
    """A question would be marked one way in the notebook and another way in a class, or have no
    key on paper, for some of 300 students; or a blank would count.
    """
    kind = bank.find(name).kind
    for student in STUDENTS:
        x = bank.numbers(student, name)
        solution = kind.solution(x)
        if solution is not None:
            assert grade(name, solution, student).status == "right", student
    assert sheet.answer(name, "demo") and len(sheet._asked(kind, bank.numbers("demo", name))) > 10
    for blank in (..., None, "", "  "):
        assert grade(name, blank).status == "not attempted"
    if solution is not None:
        assert in_the_box(name, solution, student) == grade(name, solution, student)
    for strange in (3.7, object(), {"a": 1}, "zz 9", [[]], "\0", "9" * 5000):
        assert in_the_box(name, strange).status in ("could not read", "for the instructor")


@pytest.mark.parametrize("name", of(tasks.Estimate))
def test_a_range_is_read_with_its_units_and_judged_by_both_ends(name):
    """A range that misses, or that holds everything, would count as an estimate."""
    kind = bank.find(name).kind
    for student in STUDENTS[:40]:
        key = kind.key(bank.numbers(student, name))
        for given in (
            f"{key / 2} s to {key * 2} s",
            f"{key / 2}s … {key * 2}s",
            [key, key],
            (f"{1e3 * key / 1.1} ms", 1.1 * key),
        ):
            assert grade(name, given, student).status == "right", given
        for given in ([key / 3, key / 1.01], [key * 1.01, key * 3]):
            assert grade(name, given, student).slips == ("range missed",)
        wide = math.sqrt(kind.widest) * 1.01
        assert grade(name, [key / wide, key * wide], student).slips == ("range too wide",)
        shown = exercises.grade(student, name, [key * 1.01, key * 3]).message
        assert "below" in shown and f"{key:.3g}" not in shown
    assert grade(name, ["3 GB", "4 GB"]).slips == ("wrong dimension",)
    for bad in (["3 s"], "3 s", ["4 s", "3 s"], [0, 1], [-1, 1], ["x", "y"], [1, math.inf]):
        assert grade(name, bad).status in ("could not read", "wrong"), bad
        assert grade(name, bad).status == "could not read" or grade(name, bad).slips


def test_progress_counts_how_many_ranges_hold(capsys):
    """A reader would never learn that all ranges are too narrow."""
    me = exercises.Student("demo")
    for name, by in zip(of(tasks.Estimate), (1, 5), strict=False):
        question = me.ask(name)
        key = question.exercise.kind.key(question._numbers)
        question.check([by * key / 1.2, by * key * 1.2])
    capsys.readouterr()
    me.progress()
    assert "Ranges: 1 of 2 hold" in capsys.readouterr().out


@pytest.mark.parametrize("name", of(tasks.Bug))
def test_a_planted_line_is_one_line_and_every_plant_is_met(name):
    """Two lines would differ, a plant never come up, or a sound line be called wrong without a
    reason.
    """
    kind, met = bank.find(name).kind, set()
    assert len(kind.lines) == 6 == len(kind.reasons)
    for student in STUDENTS:
        x = bank.numbers(student, name)
        seen = kind.program(x)
        differ = [n for n in range(1, 7) if seen[n - 1] != kind.lines[n - 1]]
        assert differ == [kind.plant(x).line]
        met.add(kind.plant(x))
    assert met == set(kind.plants)
    right = kind.solution(bank.numbers("demo", name))
    for line in range(1, 7):
        for given in (line, f"line {line}", f"第{line}行", f" {line} "):
            verdict = grade(name, given)
            assert (verdict.status == "right") == (line == right)
            assert line == right or verdict.slips == (f"line {line} taken for wrong",)
    assert grade(name, 7).status == grade(name, 0).status == "could not read"


def test_the_ring_model_is_right_and_each_planted_line_makes_it_wrong():
    """The model without its bug would be wrong, or with it still right."""
    kind = bank.find("transport.bug").kind

    def run(lines):
        names = {}
        exec("\n".join(lines), names)
        return [names["ring"](6e9, n, 5 * us, 4e11) for n in (3, 8, 1024)]

    truth = [collectives.ring_allreduce(6e9, n, 5 * us, 5e10) for n in (3, 8, 1024)]
    assert run(kind.lines) == pytest.approx(truth, rel=1e-12)
    for plant in kind.plants:
        lines = list(kind.lines)
        lines[plant.line - 1] = plant.text
        wrong = run(lines)
        assert all(abs(a / b - 1) > 1e-6 for a, b in zip(wrong, truth, strict=True)), plant


@pytest.mark.parametrize("name", of(tasks.Several))
def test_all_sound_objections_and_no_others_are_right(name):
    """Half of the objections, or all letters at once, would count as criticism."""
    kind = bank.find(name).kind
    for student in ("demo", "001", "s0007"):
        options = kind.lettered(bank.numbers(student, name))
        sound = {letter for letter, option in options.items() if option.right}
        for size in range(1, 5):
            for picked in itertools.combinations(options, size):
                for given in (", ".join(picked), "".join(picked), list(picked)):
                    verdict = grade(name, given, student)
                    assert (verdict.status == "right") == (set(picked) == sound)
                    assert verdict.status == "right" or verdict.slips
    assert grade(name, "a and z").status == grade(name, "all").status == "could not read"


@pytest.mark.parametrize("name", of(tasks.Decision))
def test_each_action_is_best_for_some_and_a_wrong_one_is_priced(name):
    """One answer would serve everybody, or two cost the same; a wrong decision would not be told
    what it costs.
    """
    kind, best = bank.find(name).kind, set()
    for student in STUDENTS:
        costs = kind.costs(bank.numbers(student, name))
        first, second, *_ = sorted(costs.values())
        assert second > 1.001 * first, student
        best.add(min(costs, key=costs.get))
        for action in costs:
            verdict = grade(name, f" {action.upper()} ", student)
            right = costs[action] == min(costs.values())
            assert (verdict.status == "right") == right
            assert right or (verdict.slips == (f"chose {action}",) and "$" in verdict.message)
    assert best == set(costs)


def test_measuring_is_worth_what_it_saves_when_it_changes_the_mind():
    """The price of a measurement would be held against something else; by hand for one case."""
    from types import SimpleNamespace

    x = SimpleNamespace(chance=0.5, price=40e3, large=120e3, small=2e3, test=6e3)
    costs = bank.find("transport.invest").kind.costs(x)
    assert costs == pytest.approx({"buy": 70_950, "keep": 61_000, "measure": 57_000})


@pytest.mark.parametrize("name", of(tasks.Explain))
def test_an_explanation_is_held_to_its_words_and_ticked_by_its_reader(name, capsys):
    """Two pages would pass for 60 words, a reader alone would get nothing back, or the sample not
    keep to its own limit.
    """
    kind = bank.find(name).kind
    assert kind.least_words <= len(kind.sample.split()) <= kind.most_words
    assert len(kind.rubric) == kind.worth
    assert grade(name, "word " * 5).status == grade(name, "word " * 61).status == "could not read"
    question = exercises.Student("demo").ask(name)
    question.tick(1)
    assert "check your explanation first" in capsys.readouterr().out
    question.check(kind.sample)
    assert question.verdict.status == "for the instructor"
    assert all(point in question.verdict.message for point in kind.rubric)
    question.tick(1, 3)
    said = " ".join(capsys.readouterr().out.split())
    assert "2 of 4. Not yet said:" in said and " ".join(kind.sample.split()) in said
    question.tick(9)
    assert "points 1 to 4" in capsys.readouterr().out
    exercises.Student("demo").ask("transport.time").tick(1)
    assert "no list to tick" in capsys.readouterr().out
