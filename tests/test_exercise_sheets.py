"""Levels, sheets, exams and the diary: what is known of each exercise, on paper and from day to
day.
"""

import datetime
import json
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from fabriclab.__main__ import main
from fabriclab.course import NUMBERED
from fabriclab.course.engine import exercises
from fabriclab.course.engine.exercises import bank, diary, example, levels, reader, sheet

ROOT = Path(__file__).parents[1]
HEADING = re.compile(r"^## (\d+\.\d+) ", re.MULTILINE)


def test_every_exercise_has_a_level_and_a_section_of_its_own_part():
    """An exercise would be in no exam, send a student to a section that is not there, or need one
    that does not exist or needs it in turn.
    """
    assert set(levels._KNOWN) == set(exercises.ids())
    for number, part in NUMBERED.items():
        path = next((ROOT / "notebooks").glob(f"{number:02d}-*.ipynb"))
        text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells)
        sections = set(HEADING.findall(text))
        for name in exercises.ids(part):
            level = levels.of(name)
            assert level.section in sections and level.level in levels.LEVELS, name
            assert 1 < level.minutes <= 30 and set(level.needs) <= set(exercises.ids()), name
        order = levels.in_order(exercises.ids(part))
        assert sorted(order) == sorted(exercises.ids(part))
        for place, name in enumerate(order):
            assert set(levels.of(name).needs) <= set(order[:place]), name


@pytest.mark.parametrize("minutes", [30, 60, 90, 120])
@pytest.mark.parametrize("seed", range(5))
def test_an_exam_fills_its_time_and_is_balanced(minutes, seed):
    """An exam would be too long for its minutes, ask one part alone, or one level alone."""
    parts = sheet.parts("1-5")
    names = sheet.choose(parts, minutes, seed)
    taken = sum(levels.of(name).minutes for name in names)
    counts = [sum(name.startswith(part) for name in names) for part in parts]
    assert minutes - 6 <= taken <= minutes and len(set(names)) == len(names)
    assert max(counts) - min(counts) <= 2 and names == sheet.choose(parts, minutes, seed)
    kinds = {levels.of(name).level for name in names}
    assert minutes < 60 or kinds == set(levels.LEVELS)
    assert names != sheet.choose(parts, minutes, seed + 100)


def test_an_exams_key_is_what_the_kit_calls_right():
    """A marker would go by a key that the kit itself would refuse."""
    for name in exercises.ids():
        answer = sheet.answer(name, "exam 7 copy 2")
        if answer.startswith("see ") or bank.find(name).kind.by_hand:
            continue
        given = re.sub(r" \(within.*", "", answer).split(": ")[0] if answer[1:2] == ":" else answer
        given = re.sub(r" \(within.*", "", given)
        if given.endswith(" lies in the range"):
            kind = bank.find(name).kind
            given = kind.solution(bank.numbers("exam 7 copy 2", name))
        verdict = exercises.grade("exam 7 copy 2", name, given)
        strict = getattr(bank.find(name).kind, "tolerance", 1) < 1e-3
        assert verdict.status == "right" or strict and verdict.status == "wrong", (name, answer)


def test_the_questions_on_paper_hold_no_key_and_each_copy_its_own_numbers():
    """An exam would print its answers, or neighbours would have the same numbers."""
    names = sheet.choose(sheet.parts("1-5"), 90, 7)
    questions, key = sheet.exam(names, 7, 3)
    copies = questions.split('<div class="copy">')[1:]
    assert len(copies) == 3 and len({copy.split("</h1>")[1] for copy in copies}) == 3
    assert "within" not in questions and "Marking scheme" not in questions
    assert "Marking scheme" in key and key.count("<tr>") == 3 * len(names)
    for number, copy in enumerate(copies, start=1):
        for name in names:
            kind, x = bank.find(name).kind, bank.numbers(f"exam 7 copy {number}", name)
            assert bank.find(name).title in copy
            if type(kind).__name__ == "Quantity":
                shown = reader.show(kind.key(x), kind.dimension)
                assert not re.search(rf"(?<![\d.]){re.escape(shown)}(?!\w)", copy), name


def test_the_commands_write_their_pages(tmp_path, monkeypatch, capsys):
    """`fabriclab sheet` or `fabriclab exam` would write nothing, or end in a traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sheet.shutil, "which", lambda name: None)  # no browser: HTML alone
    assert main(["sheet", "03", "--student", "ada"]) == 0
    page = (tmp_path / "sheet-03.html").read_text(encoding="utf-8")
    for name in exercises.ids("transport"):
        assert bank.find(name).title in page
    assert main("exam --parts 1-5 --minutes 90 --seed 7 --copies 2 --key".split()) == 0
    assert (tmp_path / "exam-7-key.html").exists() and (tmp_path / "exam-7.html").exists()
    capsys.readouterr()
    for words in ("sheet 99", "sheet x", "exam --minutes 1", "exam --copies 0"):
        assert main(words.split()) == 2 and len(capsys.readouterr().err.splitlines()) == 1


def test_a_diary_counts_tries_and_survives(tmp_path):
    """A restart would forget a student's work, or a spoiled file stop the notebook."""
    diary.write("zoé", "transport.ring", "wrong", tmp_path)
    diary.write("zoé", "transport.ring", "not attempted", tmp_path)
    diary.write("zoé", "transport.ring", "right", tmp_path)
    diary.write("ada", "transport.ring", "right", tmp_path)
    told = diary.read("zoé", tmp_path)["transport.ring"]
    assert (told["tries"], told["first"], told["last"], told["right_at"]) == (
        2,
        "wrong",
        "right",
        2,
    )
    for spoiled in ("{", "[1]", '{"zoé": 3}', '{"zoé": {"transport.ring": {"tries": "x"}}}'):
        (tmp_path / diary.NAME).write_text(spoiled, encoding="utf-8")
        assert diary.read("zoé", tmp_path) == {}
        diary.write("zoé", "transport.ring", "right", tmp_path)
        assert diary.read("zoé", tmp_path)["transport.ring"]["tries"] == 1
    assert diary.read("zoé", tmp_path / "nowhere") == {}
    diary.write("zoé", "transport.ring", "right", tmp_path / "nowhere")


def test_what_was_wrong_comes_back_first():
    """Review would ask what is known, and forget what was wrong."""
    today = datetime.date(2026, 9, 30)
    entry = {"tries": 1, "first": "right", "last": "right", "right_at": 1, "day": "2026-09-29"}
    told = {
        "a": entry,
        "b": entry | {"day": "2026-09-01"},
        "c": entry | {"last": "wrong"},
        "d": entry | {"right_at": 3, "day": "2026-09-26"},
    }
    assert diary.due(told, "abcde", today) == ["c", "d", "b"]


def test_a_kernel_keeps_the_diary_and_says_who_works(tmp_path, monkeypatch):
    """After a restart a student would stand at nothing, or work as demo without knowing."""
    monkeypatch.setenv("FABRICLAB_PROGRESS", "on")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    source = [
        "from fabriclab.course.engine import exercises\nme = exercises.Student('demo')",
        "q = me.ask('transport.crossover')\nq.check('1 MB')\nq.check('1 Mb')",
        "me = exercises.Student('demo')\nq = me.ask('transport.crossover')\nme.progress()",
        "import fabriclab.course.engine.exercises.function as f\nf.LIMIT = 1\n"
        "def endless(*a):\n    while True: pass\n"
        "q = me.ask('transport.write_ring')\nq.check(endless)",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in source])
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(book, timeout=300, kernel_name="python3", resources=resources).execute()
    said = ["".join(map(str, cell.outputs)) for cell in book.cells]
    assert "You work as" in said[0] and "✗" in said[1] and "✓" in said[1]
    assert "213,94,0" in said[1] and "0,158,115" in said[1]
    assert "right after 2 tries (another day)" in said[2] and "All parts: 1 of" in said[2]
    assert "was stopped after 1 s" in said[3]
    kept = json.loads((tmp_path / diary.NAME).read_text())["demo"]
    assert kept["transport.crossover"]["right_at"] == 2


@pytest.mark.parametrize("name", exercises.ids())
def test_after_the_last_hint_there_is_an_example(name):
    """A student would be left with nothing after the last hint, or be shown the answer."""
    kind = bank.find(name).kind
    for student in ("demo", "001", "李雷"):
        x = bank.numbers(student, name)
        told = example.worked(bank.find(name), x)
        if type(kind).__name__ in ("Quantity", "Formula", "Function"):
            assert told
        if type(kind).__name__ == "Quantity":
            shown = reader.show(kind.key(x), kind.dimension)
            assert f"answer is {shown}." not in told
