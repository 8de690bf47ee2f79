"""An instructor's own exercises: INSTRUCTOR's example followed, and each fault that is found."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from fabriclab.__main__ import main
from fabriclab.classroom import mounts, standin, worker
from fabriclab.course.engine import exercises
from fabriclab.course.engine.exercises import bank, own, proof, sheet, template
from fabriclab.course.engine.exercises.core import Draw, Numbers

ROOT = Path(__file__).parents[1]
TEXT = re.search(
    r'```python\n("""Exercises of my course.*?)```', (ROOT / "INSTRUCTOR.md").read_text(), re.DOTALL
)[1]


@pytest.fixture
def campus(tmp_path, monkeypatch):
    path = tmp_path / "campus.py"
    path.write_text(TEXT)
    monkeypatch.setenv(own.VARIABLE, str(tmp_path))
    return path


def given(name, student):
    exercise, x = bank.find(name), bank.numbers(student, name)
    numbers = [f"{k}={v!r}" for k, v in sorted(vars(x).items()) if k != "draw"]
    return "\n".join([*numbers, exercise.prompt(x), exercise.kind.wants(x), exercise.moral(x)])


@pytest.mark.parametrize("part", [*bank.NUMBERED.values()])
def test_three_hundred_students_are_given_what_they_always_were(part):
    """Writing exercises as templates would have moved a number or a word of some student's; the
    data were taken before.
    """
    kept = json.loads((ROOT / "tests" / "data" / "fingerprints.json").read_text())
    for name in (name for name in kept if name.startswith(f"{part}.")):
        digest = hashlib.sha256()
        for number in range(300):
            digest.update(given(name, f"s{number:04d}").encode() + b"\0")
        assert digest.hexdigest()[:16] == kept[name], name


def test_the_instructors_example_works_everywhere(campus, capsys, monkeypatch, tmp_path):
    """Who follows INSTRUCTOR would end with exercises that notebook, sheet, exam or box do not
    know.
    """
    assert main(["exercise", "check", str(campus)]) == 0
    assert bank.ids("campus") == ["campus.backup", "campus.halves"]
    question = exercises.Student("ada").ask("campus.backup")
    assert question.markdown.startswith("**The nightly backup** · warm-up")
    assert re.search(r"A backup of [124] TB leaves over one port of [12]00 Gb/s", question.text)
    assert "warm-up, 5 min, section 3.3" in question.text
    question.check(f"{question.size / question.rate} s")
    assert question.verdict.status == "right" and f"{question.size / 1e12:g} TB" in (
        question.verdict.message
    )
    question.check(question.size / question.rate / 8)
    assert question.verdict.slips == ("bits for bytes",) and "Gb/s" in question.verdict.message
    monkeypatch.chdir(tmp_path)
    assert main(["sheet", "campus", "--student", "ada"]) == 0
    assert "backup" in (tmp_path / "sheet-campus.html").read_text()
    assert sheet.parts("1,campus") == ["opening", "campus"]
    names = sheet.choose(["campus"], 60, 1)
    assert names == ["campus.halves", "campus.backup"] or len(names) == 2
    questions, key = sheet.exam(names, 1, 2)
    assert "nightly backup" in questions and "A sixth of the time" in key
    boxed = standin.sheet("ada", ["campus.backup"])["campus.backup"]
    assert standin.plain(boxed) and "Gb/s into bytes" in boxed["hints"][2]


def test_an_edit_is_seen_and_graded_anew(campus):
    """A mended key would leave the old verdicts behind."""
    before, sources = bank.find("campus.backup").title, worker.sources.__wrapped__()
    campus.write_text(TEXT.replace("The nightly backup", "The weekly backup"))
    assert bank.find("campus.backup").title == "The weekly backup" != before
    assert worker.sources.__wrapped__() != sources


def test_no_folder_is_trusted_unless_it_is_named(tmp_path, monkeypatch):
    """A student's folder would run code on the instructor's machine because of where it lies."""
    monkeypatch.delenv(own.VARIABLE, raising=False)
    for name in ("own", "exercises", "campus"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "campus.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    assert bank.parts() == list(bank.NUMBERED.values())
    assert own.VARIABLE not in mounts.environment("/home/x")


def test_keys_of_own_exercises_stay_out_of_the_box(tmp_path, monkeypatch):
    """What a release put into the kit would be read from a student's notebook while it is
    graded.
    """
    (tmp_path / "course" / "own").mkdir(parents=True)
    monkeypatch.setattr(mounts, "PACKAGE", tmp_path)
    assert tmp_path / "course" / "own" in set(mounts.keys())


FAULTS = [
    ("{size:B} leaves", "{sise:B} leaves", "prompt: no number is called {sise}; there are rate, s"),
    ("{size:B} leaves", "{size:B leaves", "prompt: "),
    ("{size:B} leaves", "{size.real:B} leaves", "prompt: no number is called {size.real}"),
    ("x.size, 2 * us", "x.sice, 2 * us", "its key fails: AttributeError"),
    ("transfer_time(x.size, 2 * us, x.rate)", "transfer_time(-1.0, 2 * us, x.rate)", "its key fai"),
    (
        "lambda x: transport.transfer_time(x.size, 2 * us, x.rate)",
        "lambda x: float('nan')",
        "no number to answer",
    ),
    (
        "lambda x: transport.transfer_time(x.size, 2 * us, x.rate)",
        "lambda x: transport.transfer_time(7e12, 2 * us, 1e10)",
        "its key is 700 for everybody",
    ),
    ("x.size / (8 * x.rate)", "x.size / x.rate", "slip 'bits for bytes' gives the right answer"),
    ("x.size / (8 * x.rate)", "x.size / x.none", "slip 'bits for bytes' fails: AttributeError"),
    ("you took {rate:b/s}", "you took {rata:b/s}", "slip 'bits for bytes': no number is called"),
    ('"Picture the last byte: when does it leave?",', "", "it has 2 hints; give three"),
    ('title="The nightly backup"', 'title=""', "it has no title"),
    ('"A sixth of the time"', '"A sixth of the time, as half of one is saved"', "the longest"),
    (", right=True", "", "0 options are right"),
    ('needs=("transport.time",)', 'needs=("transport.tome",)', "it needs 'transport.tome'"),
    ("How long does", "It takes {answer:s}. How long does", "prompt: no number is called {answer}"),
    ('moral="Bandwidth shortens one term of two."', 'moral=""', "it has no moral"),
    ("size / (8 * x.rate)", "size / (8 * x.rate", "does not match"),
    ('level="warm-up"', 'level="easy"', "needs a level (warm-up, standard, hard)"),
    ('id="campus.backup"', 'id="kampus.backup"', "should begin with 'campus.'"),
    ('id="campus.halves"', 'id="campus.backup"', "campus.backup is there twice"),
    ("from fabriclab import transport", "import no_such_thing", "line 3: ModuleNotFoundError"),
    ("EXERCISES = [", "OTHERS = [", "EXERCISES should be a list"),
    ("{size:B} leaves", "{size:q} leaves", "prompt: Unknown format code 'q'"),
]


@pytest.mark.parametrize(("old", "new", "says"), FAULTS, ids=lambda text: text[:30])
def test_each_fault_is_told_in_a_line_with_its_place(campus, capsys, old, new, says):
    """An instructor would hand out an exercise that fails for students, or search for what is
    wrong.
    """
    assert old in TEXT
    campus.write_text(TEXT.replace(old, new, 1))
    assert main(["exercise", "check", str(campus)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert any(says in line for line in said), said
    assert all(line.startswith(str(campus)) for line in said)


def test_an_answer_in_the_prompt_is_seen(campus):
    """A prompt would print what it asks for."""
    campus.write_text(
        TEXT.replace("How long", "It takes {t:s}. How long").replace(
            'moral="Start-up', 'places={"t": lambda x: x.size / x.rate + 2 * us}, moral="Start-up'
        )
    )
    assert any("it prints the answer" in line for line in proof.faults(campus))


def test_places_take_units_formats_and_braces():
    """A place would print SI digits where a reader wants a unit."""
    x = Numbers(Draw("a", "b"), {"size": 75e3, "n": 1024, "t": 2.5e-6, "name": "EDR"})
    assert template.fill("{size:B}, {n:,}, {t:s}, {name}, {{x}}", x) == (
        "75 KB, 1,024, 2.5 µs, EDR, {x}".replace("µs", template.si(2.5e-6, "s").split()[1])
    )
    assert template.places("{size:B} at {n}") == ["size", "n"]
    for text in ("{}", "{0}", "{draw}", "{n", "{name.upper}", "{name[0]}"):
        with pytest.raises(ValueError):
            template.fill(text, x)


def test_every_exercise_of_the_kit_would_pass_the_check_for_keys_and_words():
    """The kit itself would not keep to what it asks of an instructor."""
    # transport.fit's slip is right where noise is kind, as test_exercises says
    for name in (name for name in bank.ids() if name != "transport.fit"):
        exercise = bank.find(name)
        for student in proof.STUDENTS[:4]:
            x = bank.numbers(student, name)
            assert not [*proof._words(exercise, x), *proof._answer(exercise, x)], name
