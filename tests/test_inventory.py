"""The concept inventory: its questions, the page, and the report of a class."""

import math

import pytest

from fabriclab import congestion, reliability
from fabriclab.__main__ import main
from fabriclab.classroom import beliefs, inventory
from fabriclab.classroom.beliefs import QUESTIONS
from fabriclab.link import propagation_delay
from fabriclab.units import Gbps, day, hour


def csv(path, *rows):
    head = ",".join(["Student", *inventory.NUMBERS])
    path.write_text("\n".join([head, *(",".join(row) for row in rows)]) + "\n")
    return path


def letters(index):
    """The right letters (index 0), or those of the wrong option of that number."""
    return [
        next(a for a, text in q.lettered().items() if text == [q.right, *q.wrong][index])
        for q in QUESTIONS
    ]


def test_twelve_questions_with_four_options_and_a_belief_behind_each_wrong_one():
    """A letter would say nothing of what a student believes, or the right one always be the same
    letter or the longest.
    """
    assert len(QUESTIONS) == 12 == len({q.id for q in QUESTIONS})
    for question in QUESTIONS:
        assert len(question.lettered()) == 4 == len({*question.lettered().values()})
        assert all(question.wrong.values())
    assert not any(q.belief(letter) for q, letter in zip(QUESTIONS, letters(0), strict=True))
    assert {*letters(0)} == {*"abcd"}
    longest = sum(len(q.right) > max(map(len, q.wrong)) for q in QUESTIONS)
    assert longest <= 4


def test_the_right_options_are_right():
    """A class would be told that it believes what is false, where it is true."""
    propagation = propagation_delay(1_000_000)
    assert propagation > 1000 * 1000 / (100 * Gbps)  # delays
    assert 1 / (100 * Gbps) < propagation_delay(2000) / 1e4  # speed
    assert 3 < congestion.mean_fullest(64, 64) < 5  # average
    assert math.isclose(1 - 1 / 1.2, 1 / 6)  # slowest: the step takes 1.2 times as long at most
    first = reliability.time_to_first(reliability.rate_from_mttf(200 * 365.25 * 24 * hour), 20_000)
    assert 3 * day < first < 4 * day  # failures


def test_the_report_counts_beliefs_and_gain(tmp_path, capsys):
    """A lecturer would be told of the wrong belief, or of a gain that is none."""
    right, first, second = letters(0), letters(1), letters(2)
    half = right[:6] + first[6:]
    before = csv(tmp_path / "b.csv", ["ada", *first], ["bob", *half], ["eve", *right])
    after = csv(tmp_path / "a.csv", ["bob", *right], ["ada", *half], ["dan", *second])
    assert main(["inventory", str(before), str(after)]) == 0
    said = capsys.readouterr().out
    assert "2 students sat both tests, 2 one alone." in said
    assert "Right: 25% before, 75% after." in said and "gain: 0.67" in said
    assert "     1     0  bandwidth is speed (question 1)" in said
    assert "     2     1  a reliable part makes a reliable whole (question 10)" in said
    assert main(["inventory", str(before)]) == 0
    assert "3 students, 50% right." in capsys.readouterr().out


def test_blank_answers_are_no_beliefs(tmp_path):
    """Who leaves a question out would be counted among those who believe something."""
    path = csv(tmp_path / "b.csv", ["ada", *[""] * 6, *["-"] * 6])
    one = inventory.outcome(inventory.read(path))
    assert one.mean == 0 and not one.beliefs


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([["ada", "e", *["a"] * 11]], "line 2: question 1: 'e' is not a letter"),
        ([["ada", *["a"] * 12], ["ada", *["a"] * 12]], "line 3: ada is there twice"),
        ([["", *["a"] * 12]], "line 2: a student id is"),
        ([], "no student"),
    ],
)
def test_a_bad_file_is_told_with_its_line(tmp_path, capsys, rows, says):
    """A typing slip would change a class's result without a word."""
    assert main(["inventory", str(csv(tmp_path / "b.csv", *rows))]) == 2
    assert says in capsys.readouterr().err


def test_a_file_without_its_columns_or_people_is_refused(tmp_path, capsys):
    """A table of something else would be read as answers."""
    (tmp_path / "x.csv").write_text("name,1\nada,a\n")
    assert main(["inventory", str(tmp_path / "x.csv")]) == 2
    assert "no column called 'student'" in capsys.readouterr().err
    one, two = (csv(tmp_path / f"{n}.csv", [n, *["a"] * 12]) for n in ("ada", "bob"))
    assert main(["inventory", str(one), str(two)]) == 2
    assert "nobody sat both" in capsys.readouterr().err


def test_the_page_gives_nothing_away_and_the_kit_holds_no_key(tmp_path, capsys, monkeypatch):
    """A student would read the key before the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))  # no browser: no PDF
    assert main(["inventory"]) == 0
    page, key = (
        (tmp_path / "inventory.html").read_text(),
        (tmp_path / "inventory-key.html").read_text(),
    )
    assert "bandwidth is speed" in key and "bandwidth is speed" not in page
    assert page.count("<li>") == 48 and "<em>other</em>" in page
    assert "classroom" in beliefs.__name__  # the room that a release leaves out


def test_the_gain_is_hakes():
    """A class that knew much before would be said to have learnt little."""
    assert inventory.gain(0.2, 0.6) == pytest.approx(0.5) and inventory.gain(0.5, 0.25) == -0.5
    with pytest.raises(ValueError, match="first below 1"):
        inventory.gain(1.0, 1.0)
