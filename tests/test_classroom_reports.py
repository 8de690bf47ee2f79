"""What a class gets back: gradebooks that import and run nothing, pages that say what was judged
and no more, a report that adds up.
"""

import csv
import io
import re
import shutil
from html.parser import HTMLParser

import pytest
import school

from fabriclab.classroom import classreport, feedback, gradebook, results
from fabriclab.classroom.roster import Person, folder
from fabriclab.course.engine.exercises import bank
from fabriclab.course.engine.exercises.core import Result

NAMES = ("01-bandwidth-cliff.ipynb", "02-wires-and-links.ipynb")
ASKED = {name: school.asked()[name] for name in NAMES}
FREE = next(name for name in ASKED[NAMES[1]] if bank.find(name).kind.by_hand)


def graded(student, notebook, answers=None, faults=None, **said):
    collected = school.Collected(answers or {}, faults or {}, **said)
    return {
        (student, notebook): results.judge(
            student, notebook, f"{student}/{notebook}", "", ASKED[notebook], collected
        )
    }


@pytest.fixture(scope="module")
def course():
    """A class of six: all right, one slip, faults, refused, blank, nothing sent."""
    people = school.people(6)
    done = {}
    for notebook in NAMES:
        done |= graded(
            "ADA", notebook, {name: school.right("ADA", name) for name in ASKED[notebook]}
        )
        done |= graded(
            "ada", notebook, {name: school.eightfold("ada", name) for name in ASKED[notebook]}
        )
    done |= graded(
        "001",
        NAMES[0],
        {},
        {name: "cell 7 ran longer than 10 s" for name in ASKED[NAMES[0]]},
        notes=("names the student 'ADA'",),
    )
    done |= graded("1", NAMES[0], refused="a zip archive")
    done |= graded("zoé@example.org", NAMES[1])
    return people, done


def rows(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.fixture
def written(course, tmp_path):
    people, done = course
    gradebook.write(tmp_path, people, ASKED, done)
    return tmp_path


# ---- the gradebook


def test_one_row_a_student_and_one_column_an_exercise(written, course):
    """A student who sent nothing would be missing, or a column would hold another exercise's
    points.
    """
    people, done = course
    header, *body = rows((written / "grades.csv").read_text(encoding="utf-8-sig"))
    assert header == [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        *ASKED[NAMES[0]],
        "01-bandwidth-cliff Final Points",
        *ASKED[NAMES[1]],
        "02-wires-and-links Final Points",
        "Final Points",
    ]
    assert [row[2] for row in body] == [person.id for person in people]
    for row in body:
        cells = dict(zip(header, row, strict=True))
        for (student, _), result in done.items():
            if student == cells["SIS User ID"]:
                for name, verdict in result.verdicts.items():
                    assert cells[name] == (
                        "-"
                        if bank.find(name).kind.by_hand and result.answers.get(name)
                        else f"{verdict.score:g}"
                    )
        points = [
            float(cells[name]) for ids in ASKED.values() for name in ids if cells[name] != "-"
        ]
        assert (
            float(cells["Final Points"])
            == sum(points)
            == sum(float(cells[name]) for name in header if name.endswith(" Final Points"))
        )
    ada = dict(zip(header, body[0], strict=True))
    assert ada[FREE] == "-" and float(ada["Final Points"]) > 5
    assert dict(zip(header, body[5], strict=True)) | {
        "Student": "",
        "SIS User ID": "",
        "SIS Login ID": "",
        "Section": "",
        "ID": "",
    } == dict.fromkeys(header[:5], "") | dict.fromkeys(header[5:], "0")


def canvas_reads(text):
    """(columns taken for assignments, points possible, rows) as lib/gradebook_importer.rb of
    canvas-lms reads a file.
    """
    header, *body = rows(text)
    assert (
        "Student" in header[0]
        and "ID" in header[1]
        and re.search(r"SIS\s+User\s+ID", header[2])
        and re.search(r"SIS\s+Login\s+ID", header[3])
        and "Section" in header[4]
    )
    own = re.compile(
        "Current Score|Current Points|Current Grade|Final Score|Final Points|Final Grade|Override"
        " Score|Override Grade|Override Status"
    )
    taken = [index for index, name in enumerate(header) if index > 4 and not own.search(name)]
    worth = [row for row in body if "Points Possible" in row[0]]
    return (
        [header[index] for index in taken],
        [worth[0][index] for index in taken] if worth else None,
        [row for row in body if row not in worth],
    )


def test_canvas_takes_the_exercises_and_nothing_else(written, course):
    """Canvas would make assignments of the totals, or take its own row of points for a student."""
    ids = [name for names in ASKED.values() for name in names]
    taken, worth, students = canvas_reads((written / "canvas.csv").read_text(encoding="utf-8-sig"))
    assert (
        taken == ids
        and worth == [f"{bank.find(name).kind.worth}" for name in ids]
        and [row[2] for row in students] == [person.id for person in course[0]]
    )
    taken, worth, students = canvas_reads((written / "grades.csv").read_text(encoding="utf-8-sig"))
    assert taken == ids and worth is None and len(students) == 6


def test_moodle_finds_a_student_in_every_row(written, course):
    """Moodle stops the whole import at a row that names no user, and reads "-" and numbers only
    (grade/import/csv/classes/load_data.php).
    """
    header, *body = rows((written / "grades.csv").read_text(encoding="utf-8-sig"))
    known = {person.id for person in course[0]}
    assert all(
        row[header.index("SIS User ID")] in known and len(row) == len(header) for row in body
    )
    assert all(re.fullmatch(r"-|\d+(\.\d+)?", cell) for row in body for cell in row[5:]) and len(
        set(header)
    ) == len(header)


def test_no_spreadsheet_runs_what_a_student_is_called():
    """A name or an id such as =HYPERLINK(...) would run on the instructor's machine, or quotes and
    separators would let one in.
    """
    evil = [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        " =1",
        "\uff1d1",
        "\uff0b1",
        'a",=1',
        "a;=1",
        "a\n=1",
        "x",
    ]
    people = tuple(
        Person(f"s{index}", name, email=name, section=name) for index, name in enumerate(evil)
    )
    header, _, body = gradebook.table(people, {}, {})
    for separator in ",;":
        for row in csv.reader(
            io.StringIO(gradebook._text([header, *body]), newline=""), delimiter=separator
        ):
            for cell in row:
                assert not cell.lstrip("\t\r\n ").startswith(
                    ("=", "+", "-", "@", "\uff1d", "\uff0b")
                ), (separator, cell)
    assert body[-1][0] == "x" and body[0][0] == "'=1+1"
    assert gradebook.formulas((Person("@zoe"), Person("zoe"), Person("a=1"))) == ("@zoe",)


# ---- pages


class Page(HTMLParser):
    """The tags and words of a page, and whether it would fetch or run anything."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.fetched = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.fetched += [
            value
            for name, value in attributes
            if (name in ("src", "href") and not value.startswith("data:image/png;base64,"))
            or name.startswith("on")
        ]

    def handle_data(self, data):
        self.words += data


def test_a_students_page_says_what_was_judged(course):
    """A student would read another's verdict, no reason for a lost point, or find somebody else's
    name.
    """
    people, done = course
    for person in people:
        own = {name: done.get((person.id, name)) for name in NAMES}
        page = Page(feedback.student(person, ASKED, own))
        for result in filter(None, own.values()):
            assert f"{result.points:g} of" in page.words or result.refused in page.words
            for name, verdict in result.verdicts.items():
                assert result.refused or (
                    bank.find(name).title in page.words and verdict.status in page.words
                )
        assert not any(other.name in page.words for other in people if other != person)
        assert page.words.count("Not sent.") == sum(result is None for result in own.values())
        assert not page.fetched and "script" not in page.tags
    assert (
        "cell 7 ran longer than 10 s"
        in Page(
            feedback.student(people[2], ASKED, {NAMES[0]: done["001", NAMES[0]], NAMES[1]: None})
        ).words
    )
    assert (
        "not graded: a zip archive."
        in Page(
            feedback.student(people[3], ASKED, {NAMES[0]: done["1", NAMES[0]], NAMES[1]: None})
        ).words
    )


def test_no_page_prints_an_answer_that_was_missed(course):
    """Feedback would be a key: one student's wrong answer would teach the others the right one."""
    people, done = course
    page = feedback.student(people[1], ASKED, {name: done["ada", name] for name in NAMES})
    for ids in ASKED.values():
        for name in ids:
            kind = bank.find(name).kind
            if type(kind).__name__ == "Quantity":
                shown = (
                    bank.judge("ada", name, school.right("ada", name))
                    .message.split(".")[0]
                    .removeprefix("Right: ")
                )
                assert len(shown) < 4 or f" {shown} " not in page, name


MISCHIEF = "<script>alert(1)</script><img src=x onerror=y>&amp;\"'\ud800"


def test_words_from_outside_stay_words(course, tmp_path):
    """A name, a fault, a note, a file name or a free text would run in the instructor's browser, or
    end the batch.
    """
    person = Person("\u674e<b>", MISCHIEF)
    text = {"text": f"{MISCHIEF} " * 40}
    bad = graded(
        person.id, NAMES[1], {FREE: text}, {ASKED[NAMES[1]][0]: MISCHIEF}, notes=(MISCHIEF,)
    ) | graded(person.id, NAMES[0], refused=MISCHIEF)
    bad = {key: results.Graded(**{**vars(result), "file": MISCHIEF}) for key, result in bad.items()}
    name = next(iter(bad[person.id, NAMES[1]].verdicts))
    bad[person.id, NAMES[1]].verdicts[name] = Result(0.0, "wrong", MISCHIEF, (MISCHIEF,))
    feedback.write(tmp_path, (person,), ASKED, bad)
    classreport.write(tmp_path, (person,), ASKED, bad, (MISCHIEF,))
    gradebook.write(tmp_path, (person,), ASKED, bad)
    for path in (
        tmp_path / "for-marking.html",
        tmp_path / "report.html",
        tmp_path / "feedback" / f"{folder(person.id)}.html",
    ):
        page = Page(path.read_text(encoding="utf-8"))
        assert (
            not {"script", "b"}
            & set(page.tags) - ({"b"} if path.name == "for-marking.html" else set())
            and page.fetched == []
        ), path
        assert "<script>alert(1)</script>" in page.words and "img" not in set(page.tags) - (
            {"img"} if path.name == "report.html" else set()
        )
    assert (tmp_path / "for-marking.html").read_text(encoding="utf-8").count("<b>") == 1


def test_free_texts_wait_for_the_instructor(course, tmp_path):
    """An argument of a student would be read by nobody, or marked by a program."""
    people, done = course
    page = Page(feedback.for_marking(people, ASKED, done)).words
    assert (
        bank.find(FREE).title in page
        and "Name of ADA (ADA)" in page
        and "because of the bandwidth" in page
        and "Name of ada" not in page
    )
    # too short for the kit is still for a person to say
    short = graded("ADA", NAMES[1], {FREE: {"text": "It depends."}})
    assert "It depends." in Page(feedback.for_marking(people, ASKED, short)).words
    header, _, body = gradebook.table(people, ASKED, short)
    assert (
        dict(zip(header, body[0], strict=True))[FREE] == "-"
        and dict(zip(header, body[1], strict=True))[FREE] == "0"
    )


# ---- the report


def test_the_report_counts_what_was_judged(course):
    """The hardest exercise would be another, or a slip counted twice, or blanks as wrong."""
    people, done = course
    sent = {
        name: [done[person.id, name] for person in people if (person.id, name) in done]
        for name in NAMES
    }
    tally = classreport.tally(ASKED, sent)
    shares = [
        counts["right"] / counts.total()
        for name, counts in tally
        if not bank.find(name).kind.by_hand
    ]
    assert shares == sorted(shares) and len(tally) == sum(map(len, ASKED.values()))
    by_name = dict(tally)
    assert (
        dict(by_name["opening.gradient"]) == {"right": 1, "wrong": 1, "could not read": 2}
        and by_name[FREE]["for the instructor"] == 1
    )
    assert (
        by_name[ASKED[NAMES[1]][0]].total() == 3
        and by_name[ASKED[NAMES[1]][0]]["not attempted"] == 1
    )
    slips = dict(classreport.slips(sent))
    assert slips and all(
        count
        == sum(
            slip in result.verdicts[name].slips
            for there in sent.values()
            for result in there
            if name in result.verdicts
        )
        for (slip, name), count in slips.items()
    )
    page = Page(classreport.report(people, ASKED, done, ("Ada: not matched",)))
    assert (
        "5 of 6 students sent 7 notebooks." in page.words
        and page.tags.count("img") == 3
        and not page.fetched
    )
    for told in (
        "Ada: not matched",
        "a zip archive",
        "names the student 'ADA'",
        "cell 7 ran longer than 10 s",
    ):
        assert told in page.words


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_a_report_of_any_class(count):
    """A class of one, of a thousand, or one that sent nothing would end in a traceback after the
    night's work.
    """
    people = school.people(max(count, 1))
    done = {}
    for index, person in enumerate(people[:count]):
        verdicts = {
            name: Result(
                float(index % 3 == 0),
                ("right", "wrong", "could not read")[index % 3],
                "",
                ("8x",) * (index % 3 == 1),
            )
            for name in ASKED[NAMES[0]]
        }
        done[person.id, NAMES[0]] = results.Graded(person.id, NAMES[0], "f", "", verdicts)
    page = Page(classreport.report(people, ASKED, done))
    assert f"{count} of {len(people)} students" in page.words.replace(
        "student ", "students "
    ) and page.tags.count("img") == (0 if count == 0 else 2 + (count > 1))


def test_the_command_grades_a_class(tmp_path, monkeypatch, capsys):
    """The way an instructor goes would be broken where its parts are whole, or a mistake would be a
    traceback.
    """
    from fabriclab.__main__ import main
    from fabriclab.classroom import sandbox

    (tmp_path / "exercises").mkdir()
    shutil.copy(school.ROOT / "exercises" / NAMES[0], tmp_path / "exercises")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class.csv").write_text("id\nADA\n@x\n")
    answers = {name: school.right("ADA", name) for name in ASKED[NAMES[0]]}
    school.send(tmp_path / "sent", "ADA", NAMES[0], answers)
    words = ["grade", "sent", "--roster", "class.csv", "--out", "out", "--workers", "1"]
    monkeypatch.setattr(
        sandbox,
        "ready",
        lambda unsafe: (
            (_ for _ in ()).throw(RuntimeError("bubblewrap is not installed"))
            if not unsafe
            else None
        ),
    )
    assert main(words) == 2 and "grade: bubblewrap is not installed" in capsys.readouterr().err
    monkeypatch.setattr(sandbox, "collect", school.collect)
    assert main([*words, "--unsafe"]) == 0
    assert (
        "1 of 2 students sent 1 notebook: 1 graded" in (shown := capsys.readouterr().out)
        and "@x: this id begins like a formula" in shown
    )
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "grades.csv",
        "canvas.csv",
        "feedback",
        "for-marking.html",
        "for-marking.csv",
        "report.html",
        "results",
        ".lock",
    }
    assert (
        f"{sum(answer is not None for answer in answers.values())}"
        == rows((tmp_path / "out" / "grades.csv").read_text(encoding="utf-8-sig"))[1][-1]
    )
    assert (
        main(["grade", "nowhere", *words[2:], "--unsafe"]) == 2
        and "nowhere: no such folder" in capsys.readouterr().err
    )
    (tmp_path / "sent" / "who").mkdir()
    assert main([*words, "--unsafe"]) == 1 and "who: not matched" in capsys.readouterr().out
