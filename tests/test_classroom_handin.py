"""What a class hands in, as people and platforms do it: zips, whole kits, several versions, names
from China, and folders that stand in the way.
"""

import contextlib
import io
import json
import os
import random
import re
import shutil
import struct
import time
import zipfile
from pathlib import Path

import pytest
import school

from fabriclab.classroom import (
    archive,
    batch,
    changes,
    classreport,
    gradebook,
    inbox,
    marks,
    release,
    roster,
    sandbox,
    submission,
    versions,
    whose,
)
from fabriclab.classroom.roster import Person, folder
from fabriclab.course.engine.exercises import bank
from fabriclab.course.engine.exercises.core import wrong

OPENING, FALLACIES = "01-bandwidth-cliff.ipynb", "12-fallacies.ipynb"
EXERCISES = school.ROOT / "exercises"
ASKED = {name: school.asked()[name] for name in (OPENING, FALLACIES)}
CLASS = (
    Person("001", "Roe, Late", "late@example.org", "lateroe", "A", "4715"),
    Person("ada", "Ada Lovelace", "ada@example.org", "al", "A", "4716"),
    Person("2023002", "李四"),
    Person("2023003", "小明 王", former=("s008",)),
)


def blank(student="demo", name=FALLACIES):
    text = (EXERCISES / name).read_text(encoding="utf-8")
    return text if student == "demo" else release.personal(text, student, name)


def filled(student="demo", name=FALLACIES, answer="42"):
    return blank(student, name).replace("answer = ...", f"answer = {answer}")


def zipped(files, saved=None):
    """The bytes of a zip of {name: text or bytes}, its times `saved` or now."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            moment = time.localtime(saved or time.time())[:6]
            archive.writestr(zipfile.ZipInfo(name, moment), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def put(top, files):
    for name, content in files.items():
        path = Path(top, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return top


@pytest.fixture
def look(tmp_path):
    room = tmp_path / "room"
    room.mkdir()
    (tmp_path / "sent").mkdir()

    def looking(files, people=CLASS):
        put(tmp_path / "sent", files)
        return inbox.look(tmp_path / "sent", people, ASKED, room, EXERCISES)

    return looking


def theirs(found):
    return sorted({one.student for one in found if not one.refused})


# ---- zips


def kit_says():
    """The procedure, as a student reads it: (the folder to zip, what to call the zip by e-mail)."""
    text = (school.ROOT / "fabriclab" / "classroom" / "kit.txt").read_text(encoding="utf-8")
    return re.search(r"zip your folder `(\w+)`", text)[1], re.search(r"`([\w-]+)\.zip`", text)[1]


def test_the_procedure_is_one(look):
    """The kit tells students one thing and INSTRUCTOR.md another: done literally, a class of forty
    arrived as nobody's.
    """
    told = " ".join((school.ROOT / "INSTRUCTOR.md").read_text(encoding="utf-8").split())
    what, called = kit_says()
    assert f"zip their folder `{what}`" in told and f"`{called}.zip`" in told
    assert called == folder("ADA") and "Canvas and Moodle it may have any name" in " ".join(
        (school.ROOT / "fabriclab" / "classroom" / "kit.txt").read_text(encoding="utf-8").split()
    )
    assert "doejane_LATE_4711_98765_exercises.zip" in told


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("by", ["canvas", "moodle", "moodle flat", "e-mail", "the address"])
def test_zips_arrive_as_the_procedure_has_them(tmp_path, look, by, packed):
    """Each student's zip holds `exercises/…`: unpacked by hand the second replaces the first."""
    what, _ = kit_says()
    names = {
        "canvas": ("lateroe_LATE_4715_99_exercises.zip", "lovelaceada_4716_100_exercises-1.zip"),
        "moodle": (
            "Late Roe_12_assignsubmission_file_/exercises.zip",
            "Ada Lovelace_13_assignsubmission_file_/exercises.zip",
        ),
        "moodle flat": (
            "Late Roe_12_assignsubmission_file_exercises.zip",
            "Ada Lovelace_13_assignsubmission_file_exercises.zip",
        ),
        "e-mail": (f"{folder('001')}.zip", f"{folder('ada')} (1).zip"),
        "the address": ("late@example.org.zip", "AL.zip"),
    }[by]
    sent = {
        name: zipped({f"{what}/{FALLACIES}": filled(student)})
        for name, student in zip(names, ("001", "ada"))
    }
    if packed:  # the platform's own zip of all
        sent = {"submissions.zip": zipped(sent)}
    found, strange = look(sent)
    assert theirs(found) == ["001", "ada"] and strange == ()
    for one in found:
        assert one.notebook == FALLACIES and one.student in versions.read(one.path).decode()
    if packed:
        room = tmp_path / "again"
        room.mkdir()
        whole = inbox.look(tmp_path / "sent" / "submissions.zip", CLASS, ASKED, room, EXERCISES)
        assert theirs(whole[0]) == ["001", "ada"] and whole[1] == ()


def test_what_is_nobodys_zip_is_told(look):
    """It would be guessed, or one student could have another's work replaced."""
    good = zipped({f"exercises/{FALLACIES}": filled("ada")})
    found, strange = look(
        {
            "exercises.zip": good,
            f"{folder('ada')}.zip": good,
            # by the name inside: where nothing else of that student is there
            "homework.zip": zipped({f"{folder('001')}/exercises/{FALLACIES}": filled("001")}),
            "evil.zip": zipped({f"ada/exercises/{FALLACIES}": filled("ada", answer="666")}),
        }
    )
    assert theirs(found) == ["001", "ada"]
    assert [line.split(":")[0] for line in strange] == ["evil.zip/ada", "exercises.zip"]
    assert "666" not in "".join(versions.read(one.path).decode() for one in found)


def bomb(size=2**27):
    return zipped({f"{number}/{OPENING}": b"\0" * (size // 4) for number in range(4)})


def test_no_zip_costs_more_than_its_own_student(look, monkeypatch):
    """A bomb, a lie, a lock or a path out of the zip would stop the class, fill the disk or write
    where it likes.
    """
    good = zipped({FALLACIES: filled("ada")})
    nested = good
    for _ in range(6):
        nested = zipped({"more.zip": nested})
    locked = bytearray(zipped({FALLACIES: filled("001")}))
    for place in re.finditer(rb"PK\x01\x02", bytes(locked)):
        locked[place.start() + 8] |= 1
    forged = zipped({FALLACIES: filled("001")})
    at = forged.rindex(b"PK\x01\x02")
    forged = forged[: at + 24] + struct.pack("<I", 10) + forged[at + 28 :]
    monkeypatch.setattr(archive, "LARGEST", 2**24)
    monkeypatch.setattr(archive, "BYTES", 2**26)
    people = tuple(Person(f"s{number}") for number in range(9)) + CLASS
    found, strange = look(
        {
            "s0.zip": bomb(),
            "s1.zip": nested,
            "s2.zip": bytes(locked),
            "s3.zip": b"no zip at all",
            "s4.zip": good[: len(good) // 2],
            "s5.zip": zipped(
                {
                    f"../../{OPENING}": "x",
                    f"/{OPENING}": "x",
                    f"C:\\{OPENING}": "x",
                    f"..\\{FALLACIES}": "x",
                    "\x1b[2J.ipynb": "x",
                }
            ),
            "s6.zip": forged,
            "s7.zip": zipped({"readme.txt": "hello"}),
            "s8.zip": b"",
            "ada.zip": good,
        },
        people,
    )
    assert theirs(found) == ["ada"]
    told = {one.student: one.refused for one in found if one.refused}
    lines = "\n".join(strange)
    assert "like a bomb" in told["s0"] or "more than" in told["s0"]
    assert "locked by a password" in told["s2"] and "damaged" in told["s6"]
    for name in ("s1", "s3", "s4", "s5", "s7", "s8"):
        assert name in lines, name
    assert lines.replace("\n", "").isprintable() and "zip in a zip" in lines


def test_a_zip_with_too_many_entries_is_refused(tmp_path, monkeypatch):
    """Reading the list of ten million files takes all memory before one is looked at."""
    monkeypatch.setattr(archive, "ENTRIES", 50)
    path = tmp_path / "many.zip"
    path.write_bytes(zipped({f"{number}.txt": "" for number in range(51)}))
    with pytest.raises(archive.Bad, match="holds 51 files"):
        archive.unpack(path, tmp_path)
    monkeypatch.setattr(archive, "DIRECTORY", 1_000)
    with pytest.raises(archive.Bad, match="list of entries is too long"):
        archive.unpack(path, tmp_path)


def test_names_in_zips_of_chinese_windows(look):
    """Without a mark they are in GB 18030, and a class's zip would come out as nobody's."""
    inner = zipped({f"作业/{FALLACIES}": filled("2023002")})
    raw = zipped({"2023002-LS.zip": inner})
    name = "2023002-李四.zip".encode("gb18030")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as writing:
        info = zipfile.ZipInfo("x" * len(name))
        writing.writestr(info, inner)
    raw = made.getvalue().replace(b"x" * len(name), name)
    found, strange = look({"全班.zip": raw})
    assert theirs(found) == ["2023002"] and strange == ()


# ---- whose


@pytest.mark.parametrize(
    "name, student",
    [
        ("2023002-李四", "2023002"),
        ("李四_2023002_作业3", "2023002"),
        ("2023002李四", "2023002"),
        ("李四", "2023002"),
        ("王小明_14_assignsubmission_file_", "2023003"),
        ("小明 王_14_assignsubmission_file_", "2023003"),
        ("2023003-王小明", "2023003"),
        ("s008", "2023003"),
        (folder("s008"), "2023003"),
        ("Lovelace Ada_3_assignsubmission_file_", "ada"),
        ("Late Roe", "001"),
        ("al", "ada"),
        ("LATE@example.org", "001"),
        ("2023002-王小明", None),
        ("12023002-李四", None),
        ("2023002", "2023002"),
        ("02023002", None),
        ("四", None),
        ("ADA", None),
        ("Roe", None),
    ],
)
def test_names_as_people_write_them(name, student):
    """A folder 学号-姓名, or Moodle's with the surname first, would be nobody's; a near miss would
    be somebody's.
    """
    assert whose.owners(CLASS)(name, True) == student
    if "assign" not in name:
        assert whose.owners(CLASS)(f"{name}.zip", False) == student


def test_two_of_one_name_are_not_guessed():
    """The work of one would be graded for the other."""
    people = (*CLASS, Person("2023009", "李四"), Person("al", "Somebody", former=("001",)))
    whose_is = whose.owners(people)
    assert whose_is("李四", True) is None and whose_is("2023009-李四", True) == "2023009"
    # an id that somebody has comes before a user name, and before one that somebody had
    assert whose_is("al", True) == "al" and whose_is("001", True) == "001"


# ---- versions


def test_the_whole_kit_sent_back_counts(look):
    """A lecture has the name of its exercises: all twelve notebooks were refused as sent twice."""
    kit = {f"ada/notebooks/{path.name}": path.read_bytes() for path in LECTURES}
    kit |= {f"ada/exercises/{name}": filled("ada", name) for name in ASKED}
    kit["ada/fabriclab/catalog/x.txt"] = "x"
    found, strange = look(kit)
    assert [(one.notebook, one.refused, one.note) for one in found] == [
        (OPENING, "", ""),
        (FALLACIES, "", ""),
    ]
    assert all("/exercises/" in one.name for one in found) and strange == ()


LECTURES = sorted((school.ROOT / "notebooks").glob("*.ipynb"))


def test_lectures_alone_are_no_exercises(look):
    """Nothing would be graded, as if it had been answered."""
    found, strange = look({f"ada/{path.name}": path.read_bytes() for path in LECTURES})
    assert found == () and len(strange) == 1 and "asks none" in strange[0]


def one_of(look, files):
    found, strange = look(files)
    assert len(found) == 1 and strange == ()
    return found[0]


@pytest.mark.parametrize(
    "other", ["12-fallacies-Copy1.ipynb", "12-fallacies (1).ipynb", "old.ipynb"]
)
def test_a_blank_never_counts_against_what_is_filled(look, other):
    """The hand-out beside the answers would cost all of them."""
    outputs = json.loads(blank("ada"))
    outputs["cells"][0]["source"] = "Notes"
    for cell in outputs["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [{"output_type": "stream", "text": "x"}], 7
    one = one_of(
        look,
        {
            f"ada/{FALLACIES}": filled("ada"),
            f"ada/{other}": json.dumps(outputs),
            "ada/damaged-12-fallacies.ipynb": filled("ada")[:5000],
            f"ada/again/{FALLACIES}": filled("ada").replace('"outputs": []', '"outputs": [ ]'),
        },
    )
    assert not one.refused and "answer = 42" in versions.read(one.path).decode()
    assert "counts: the others are blank, damaged or the same" in one.note


def test_of_two_versions_the_one_saved_last_counts_where_times_tell(look):
    """A student who mends an answer and sends again would keep the old one, or none."""
    now = time.time() - 86_400
    one = one_of(
        look,
        {
            "ada/exercises.zip": zipped({FALLACIES: filled("ada", answer="new")}, now),
            "ada/exercises-1.zip": zipped({FALLACIES: filled("ada", answer="old")}, now - 600),
        },
    )
    assert "answer = new" in versions.read(one.path).decode() and "saved last, 20" in one.note


@pytest.mark.parametrize("apart", [0, 30, None])
def test_where_times_do_not_tell_the_student_is_asked(look, apart):
    """A guess would be graded."""
    now = time.time() - 86_400
    files = {
        "ada/exercises.zip": zipped({FALLACIES: filled("ada", answer="new")}, now),
        "ada/b.zip": zipped({FALLACIES: filled("ada", answer="old")}, now - (apart or 0)),
    }
    if apart is None:  # one from another clock
        files["ada/b/12-fallacies.ipynb"] = filled("ada", answer="old")
        del files["ada/b.zip"]
    one = one_of(look, files)
    assert one.refused.startswith("sent more than once, and not the same: ada/")


def test_a_former_ids_numbers_count(look):
    """The id changed: every typed answer would be wrong."""
    files = {
        "2023003-王小明.zip": zipped({FALLACIES: filled("s008"), OPENING: filled("x", OPENING)})
    }
    found, strange = look(files)
    assert [one.numbers for one in found] == ["", "s008"] and strange == ()
    assert found[1].note == "graded with the numbers of the id s008"


# ---- what stands in the way


def test_one_students_folder_never_stops_the_class(look, tmp_path):
    """Modes, names and links as an unzip restores them: nobody was graded."""
    top = put(tmp_path / "sent", {f"2023002/sub/{FALLACIES}": "x", f"2023003/{FALLACIES}": "x"})
    (top / "001").mkdir()
    os.symlink("/", top / "001" / "all")
    os.symlink("loop", top / "001" / "loop")
    os.mkdir(os.fsencode(top / "001") + b"/\xff\x1b[2J.ipynb")
    deep = os.fsencode(top / "001")
    for _ in range(60):
        deep += b"/" + b"d" * 50
    os.makedirs(deep)
    (top / "2023002" / "sub").chmod(0o444)
    (top / "2023003" / FALLACIES).chmod(0)
    try:
        found, strange = look({f"ada/{FALLACIES}": filled("ada")})
    finally:
        (top / "2023002" / "sub").chmod(0o755)
        shutil.rmtree(top / "001")
    assert "ada" in theirs(found)
    if os.geteuid():  # root opens all the same
        assert any("permission denied" in one.refused for one in found), found
        assert theirs(found) == ["ada"] and any(line.startswith("001: no") for line in strange)


def test_what_cannot_be_listed_is_told(tmp_path, monkeypatch):
    """Where root runs the tests no mode keeps it out; an error of the file system does."""

    def closed(self):
        raise PermissionError(13, "Permission denied", str(self))

    top = put(tmp_path / "sent", {f"001/{FALLACIES}": "x", f"ada/{FALLACIES}": filled("ada")})
    usual = Path.lstat
    monkeypatch.setattr(
        Path, "lstat", lambda self: closed(self) if "001" in self.parts[-2:] else usual(self)
    )
    walk = os.walk

    def walking(where, onerror=None):
        if where.name == "001":
            onerror(PermissionError(13, "Permission denied", str(where / "sub")))
        yield from walk(where, onerror=onerror)

    monkeypatch.setattr(os, "walk", walking)
    monkeypatch.setattr(Path, "lstat", lambda s: closed(s) if s.parent.name == "001" else usual(s))
    found, strange = inbox.look(top, CLASS, ASKED, tmp_path, EXERCISES)
    assert theirs(found) == ["ada"] and "001/sub/: cannot be opened: permission denied" in strange
    assert [one.refused for one in found if one.student == "001"] == [
        "cannot be opened: permission denied"
    ]


def test_json_of_too_many_values_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    """64 MB of `[]` takes gigabytes in the grader's own process; as much of one output is a
    notebook.
    """
    assert submission.MOST_NODES == 2_000_000
    monkeypatch.setattr(submission, "MOST_NODES", 20_000)
    for what in ("[],", '{"a":0},', "1,"):
        path = put(tmp_path, {"x.ipynb": '{"cells": [' + what * 21_000 + "0]}"}) / "x.ipynb"
        with pytest.raises(submission.Refused, match="20,000 values"):
            submission.read(path)
    long = json.loads(blank())
    long["cells"][-1]["outputs"] = [{"output_type": "stream", "text": '1, [2], {"3"\\": 4' * 10**5}]
    assert submission.read(put(tmp_path, {"y.ipynb": json.dumps(long)}) / "y.ipynb").cells
    begun = time.process_time()  # no text may take more than its length
    assert submission._nodes('"' + '\\"' * 1_000_000 + "," * 20_001) == 0
    assert time.process_time() - begun < 10


def test_copies_are_compared_and_not_kept(look):
    """Sixteen large files of one student were all held in memory."""
    import tracemalloc

    text, peaks = filled("ada"), []
    for copies in (range(2), range(2, 12)):
        files = {f"ada/{n}/{FALLACIES}": text + " " * (2**21 + n) for n in copies}
        tracemalloc.start()
        try:
            one = one_of(look, files)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert not one.refused and peaks[1] < 1.2 * peaks[0]


# ---- lists


def test_canvas_test_student_is_known(tmp_path):
    """Every course whose teacher has tried the student view has this row; it was refused, or the
    ghost enrolled.
    """
    login = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
    for columns, ada, ghost in (
        ("SIS User ID,SIS Login ID", "17,al", f",{login}"),
        ("SIS Login ID", "al", login),
        ("SIS User ID,SIS Login ID", "17,al", ",abcd1234"),
    ):
        path = tmp_path / "class.csv"
        path.write_text(
            f"Student,ID,{columns},Section\n    Points Possible,,{',' * columns.count(',')},\n"
            f'"Lovelace, Ada",7,{ada},A\n"Student, Test",99,{ghost},A\n'
        )
        assert [person.name for person in roster.read(path)] == ["Lovelace, Ada"]
    # and one who is really called so is a student
    path.write_text('Student,ID,SIS User ID,SIS Login ID,Section\n"Student, Test",9,77,ts,A\n')
    assert [person.id for person in roster.read(path)] == ["77"]


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize(
    "text",
    ["学号,姓名\n2023002,李四\n", "姓\t名\t学号\n李\t四\t2023002\n", "学号;姓名\n2023002;李四\n"],
)
def test_lists_as_chinese_excel_saves_them(tmp_path, coding, text):
    """The page speaks Chinese and the door would not."""
    (tmp_path / "c.csv").write_bytes(text.encode(coding))
    (person,) = roster.read(tmp_path / "c.csv")
    assert person.id == "2023002" and "李四" in whose.called(person.name)


@pytest.mark.parametrize(
    "text, ids",
    [
        ("First name,Surname,Email address\nA,B,a@b.c\n", ["a@b.c"]),
        ("Username,Email address\nab,a@b.c\n", ["ab"]),
        ("名,姓氏,ID号,电子邮件地址\n四,李,9,a@b.c\n", ["9"]),
        ("id,former id\n9,s8; s7\n", ["9"]),
    ],
)
def test_participants_without_numbers(tmp_path, text, ids):
    """Moodle's own list of participants was refused."""
    (tmp_path / "c.csv").write_text(text, encoding="utf-8")
    people = roster.read(tmp_path / "c.csv")
    assert [person.id for person in people] == ids
    assert people[0].former == (("s8", "s7") if "former" in text else ())


def test_a_former_id_that_is_anothers_is_refused(tmp_path):
    """One student's work would be graded for another."""
    (tmp_path / "c.csv").write_text("id,former id\n9,8\n8,\n")
    with pytest.raises(ValueError, match="'8' is one student's id and another's former one"):
        roster.read(tmp_path / "c.csv")


# ---- marks by hand, and what moves


@pytest.fixture
def course(monkeypatch, tmp_path):
    """grade(people, **options) of a small repository, without a sandbox."""
    (tmp_path / "exercises").mkdir()
    shutil.copy(EXERCISES / FALLACIES, tmp_path / "exercises")

    @contextlib.contextmanager
    def threads(workers):
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as executor:
            yield executor

    monkeypatch.setattr(batch.pool, "processes", threads)
    monkeypatch.setattr(sandbox, "collect", school.collect)
    monkeypatch.setattr(sandbox, "ready", lambda unsafe: None)
    monkeypatch.setattr(classreport, "write", lambda *_: None)
    return lambda people, **options: batch.grade(
        tmp_path / "sent", people, tmp_path / "out", root=tmp_path, workers=1, **options
    )


ESSAY = "fallacies.own"
SMALL = next(name for name in ASKED[FALLACIES] if not bank.find(name).kind.by_hand)


def send(tmp_path, student, right=True):
    answers = {ESSAY: school.right(student, ESSAY)}
    answers[SMALL] = school.right(student, SMALL) if right else {"text": "nothing"}
    school.send(tmp_path / "sent", student, FALLACIES, answers)


def cells(tmp_path, name):
    text = (tmp_path / "out" / "grades.csv").read_bytes()
    assert text.startswith(b"\xef\xbb\xbf")  # Excel takes it for another coding without
    import csv

    rows = csv.DictReader(io.StringIO(text.decode("utf-8-sig"), newline=""))
    return {row["SIS User ID"]: row[name] for row in rows}


@pytest.mark.parametrize("blind", [False, True])
def test_points_by_hand_are_kept_and_merged(tmp_path, course, blind):
    """Importing a second time would wipe what was given by hand."""
    for student in ("001", "ada"):
        send(tmp_path, student)
    course(CLASS, blind=blind)
    assert cells(tmp_path, ESSAY) == {"001": "-", "ada": "-", "2023002": "0", "2023003": "0"}
    sheet = (tmp_path / "out" / "for-marking.csv").read_text(encoding="utf-8-sig")
    page = (tmp_path / "out" / "for-marking.html").read_text(encoding="utf-8")
    assert ("Lovelace" in page or "ada" in sheet) != blind
    lines = sheet.splitlines()
    who = marks.code("ada", ESSAY) if blind else "ada"
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{who},"))
    assert lines[at] == f"{who},{ESSAY},,5," and f"{bank.find(ESSAY).title}" in page
    lines[at] = f'{who},{ESSAY},"3,5",5,sharp'
    given = put(tmp_path, {"marks.csv": "\r\n".join(lines)}) / "marks.csv"
    found, strange = marks.read(given, CLASS)
    assert found == {("ada", ESSAY): marks.Mark(3.5, "sharp")} and strange == ()
    for _ in range(2):
        done = course(CLASS, marks=found, blind=blind)
        assert cells(tmp_path, ESSAY)["ada"] == "3.5" and cells(tmp_path, ESSAY)["001"] == "-"
        assert f"{who},{ESSAY},3.5,5,sharp" in (tmp_path / "out" / "for-marking.csv").read_text(
            encoding="utf-8-sig"
        )
    assert done.moved == () and float(cells(tmp_path, "Final Points")["ada"]) == 4.5
    page = (tmp_path / "out" / "feedback" / f"{folder('ada')}.html").read_text(encoding="utf-8")
    assert "3.5 of 5 points" in page and "sharp" in page and "solutions" not in page
    worth = (tmp_path / "out" / "canvas.csv").read_text(encoding="utf-8-sig").splitlines()[1]
    assert ",5," in worth


@pytest.mark.parametrize(
    "row, says",
    [
        (f"ada,{ESSAY},6,", "worth 0 to 5 points, not '6'"),
        (f"ada,{ESSAY},-1,", "not '-1'"),
        (f"ada,{ESSAY},nan,", "not 'nan'"),
        (f"ada,{ESSAY},good,", "not 'good'"),
        (f"ada,{SMALL},1,", "not an exercise that needs your points"),
        ("ada,fallacies.none,1,", "is not an exercise that needs"),
        (f"ada,{ESSAY},1,\nada,{ESSAY},2,", "line 3: a second row for 'ada'"),
    ],
)
def test_marks_that_cannot_be_meant_are_refused_by_line(tmp_path, row, says):
    """A slip of the finger would be in the gradebook."""
    path = put(tmp_path, {"m.csv": f"id,exercise,points,remark\n{row}\n"}) / "m.csv"
    with pytest.raises(ValueError) as refusal:
        marks.read(path, CLASS)
    assert says in str(refusal.value)


def test_marks_of_who_has_left_are_told_and_stop_nothing(tmp_path):
    """One student who drops the course would stop the class."""
    path = (
        put(tmp_path, {"m.csv": f"id;exercise;points\ngone;{ESSAY};1\ns008;{ESSAY};2\n"}) / "m.csv"
    )
    found, strange = marks.read(path, CLASS)
    assert found == {("2023003", ESSAY): marks.Mark(2.0)} and strange == (
        "m.csv, line 2: 'gone' is in no class",
    )


def test_whose_points_moved_and_why(tmp_path, course, monkeypatch):
    """A mended key moves points, and nobody could say whose; who comes late moves nothing."""
    for student in ("001", "ada"):
        send(tmp_path, student)
    assert course(CLASS).moved == ()
    send(tmp_path, "2023002")
    assert course(CLASS).moved == ()  # somebody's first
    send(tmp_path, "ada", right=False)
    moved = course(CLASS).moved
    assert moved == (
        f"ada, {SMALL}: 1 became 0 (another file, or another version of it, was sent)",
    )
    monkeypatch.setattr(batch, "sources", lambda: "a mended key")
    monkeypatch.setattr(bank, "judge", lambda *_: wrong("so"))
    moved = course(CLASS).moved
    assert moved == tuple(
        f"{who}, {SMALL}: 1 became 0 (fabriclab's models or exercises were changed)"
        for who in ("001", "2023002")
    )
    kept = (tmp_path / "out" / "changes.csv").read_text(encoding="utf-8-sig").splitlines()
    assert kept[0] == ",".join(changes.HEADER) and len(kept) == 4


def test_every_essay_is_worth_its_points():
    """Canvas would make each essay worth one point."""
    essays = [name for name in bank.ids() if bank.find(name).kind.by_hand]
    header, worth, _ = gradebook.table((), {"all.ipynb": essays}, {})
    assert dict(zip(header, worth))[ESSAY] == "5"
    assert sorted(int(cell) for cell in worth[5:-2]) == [4, 4, 5, 8, 8, 8, 10, 10, 10]


@pytest.mark.slow
def test_any_damage_to_a_zip_is_read_or_refused(tmp_path):
    """Some byte would raise what nobody foresaw, and stop the class."""
    good, draw = zipped({FALLACIES: filled("ada"), "x/" + OPENING: "{}"}), random.Random(1)
    for number in range(2_000):
        data = bytearray(good)
        for _ in range(draw.choice((1, 3, 20))):
            data[draw.choice((draw.randrange(len(data)), -draw.randrange(1, 200)))] = (
                draw.randrange(256)
            )
        room = tmp_path / str(number)
        room.mkdir()
        (tmp_path / "z.zip").write_bytes(
            data[: draw.choice((len(data), draw.randrange(len(data))))]
        )
        with contextlib.suppress(archive.Bad):
            for member in archive.unpack(tmp_path / "z.zip", room):
                assert member.refused or member.path.parent == room
        shutil.rmtree(room)
