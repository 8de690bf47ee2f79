"""A class list is read as spreadsheets write it: every id as it stands, and no student twice,
dropped or mistaken for another.
"""

import string
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabriclab.classroom import roster
from fabriclab.classroom.roster import Person, folder, read


def listed(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "class.csv"
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return read(path)


@pytest.mark.parametrize(
    "text, ids",
    [
        ("id\n001\nADA\nada\n1\n", ["001", "ADA", "ada", "1"]),
        ('\ufeffID;Name\r\n001;Zoe\r\n\r\n002;"Doe; Jane"\r\n', ["001", "002"]),
        ("Name\tStudent_ID\nA\tzoe@example.org\n", ["zoe@example.org"]),
        ('name,id\n"Doe, Jane"," 7 "\n', ["7"]),
        ("id\nZoe\u0301\n", ["Zo\u00e9"]),
        ("id,name\n\uff10\uff10\uff11,\n", ["001"]),
        ("First name,Surname,ID number,Email address\nA,B,9,a@b.c\n", ["9"]),
    ],
)
def test_ids_stand_as_they_are_written(tmp_path, text, ids):
    """001 would become 1, ADA would become ada, or a list from another spreadsheet could not be
    read.
    """
    assert [person.id for person in listed(tmp_path, text)] == ids


def test_a_canvas_export_goes_out_as_it_came_in(tmp_path):
    """Canvas' own number would be taken for the student's id, or its extra rows for students."""
    text = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Quiz (7)\n,,,,,Manual Posting\n    Points"
        ' Possible,,,,,10\n"Doe, Jane",4411,00017,jdoe,Mon,\n"Student, Test",9,,,Mon,\n'
    )
    assert listed(tmp_path, text) == (
        Person("00017", "Doe, Jane", login="jdoe", section="Mon", canvas="4411"),
    )


def test_names_and_addresses_come_along(tmp_path):
    """A gradebook could not say who somebody is."""
    assert listed(tmp_path, "id,first name,last name,e-mail\n1,Ada,Lovelace,a@b.c\n2,,,\n") == (
        Person("1", "Ada Lovelace", "a@b.c"),
        Person("2"),
    )


@pytest.mark.parametrize(
    "text, says",
    [
        ("name,mail\nA,b\n", "line 1: no column is called id"),
        ("", "line 1: no column"),
        ("id\n", "has no students"),
        ("id,ID\n1,2\n", "line 1: two columns are called id"),
        ("id,name\n1,A\n,B\n", "line 3: id is empty"),
        ("id\nA\nB\nA\n", "lines 2 and 4 are one student: 'A'"),
        ("id\nZo\u00e9\nZoe\u0301\n", "lines 2 and 3 are one student"),
        ("id,name\n1,Doe, Jane\n", "line 2: 3 columns where the first line has 2"),
        ('id\n"=""001"""\n', "line 2: the id '=\"001\"' is a spreadsheet's formula"),
        ("id\n" + "x" * 201 + "\n", "line 2: a student id is one line of 1 to 200"),
        ('id,name\n1,"A\n', "line 2: "),
        ("id\n\u0001\n", "line 2: "),
        (b"id,name\n1,M\xfcller\n", "not UTF-8 text"),
        (b"\xff\xfei\x00d\x00", "has no students"),
        (b"PK\x03\x04", "a workbook or a zip; save it as"),
    ],
)
def test_a_list_that_cannot_be_meant_is_refused_by_line(tmp_path, text, says):
    """A student would silently vanish, be graded twice or get another's numbers."""
    with pytest.raises(ValueError) as refusal:
        listed(tmp_path, text)
    assert says in str(refusal.value)


def test_folders_keep_apart_what_file_systems_do_not(tmp_path):
    """ADA's folder would be ada's on Windows, or a name could not be made there."""
    ids = [
        "ADA",
        "ada",
        "Ada",
        "zoé",
        "zoe",
        "李雷",
        "李明",
        "con",
        "a/b",
        "a:b",
        "x" * 200,
        "x" * 199,
        ".",
        "o'neil",
    ]
    names = [folder(name) for name in ids]
    assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == len(ids)
    assert all(
        set(name) <= set(string.ascii_lowercase + string.digits + "-")
        and len(name) <= 40
        and name[0] != "-"
        for name in names
    )
    assert folder("Zo\u00e9") == folder("Zoe\u0301") == "zoe-" + folder("Zo\u00e9")[-8:]


# pinned for ever: a folder handed out last year is still the same student's
@pytest.mark.parametrize(
    "student, name",
    [
        ("001", "001-7a3e6b16"),
        ("李雷", "student-3a47328a"),
        ("zoé@example.org", "zoe-example-org-1f67b5ef"),
    ],
)
def test_a_folder_is_the_same_for_ever(student, name):
    """What a student sends back would not be matched after an update.

    The hash is SHA-256 of the id.
    """
    assert folder(student) == name


@settings(max_examples=20)
@given(
    st.lists(
        st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12),
        min_size=1,
        max_size=8,
        unique_by=lambda text: unicodedata.normalize("NFKC", text).strip(),
    )
)
def test_any_ids_come_back(tmp_path_factory, ids):
    """Some character would break a quoted list, or two students would fall into one."""
    import csv

    path = tmp_path_factory.mktemp("class") / "class.csv"
    ids = [
        name
        for name in ids
        if unicodedata.normalize("NFKC", name).strip().isprintable()
        and unicodedata.normalize("NFKC", name).strip()
        and not unicodedata.normalize("NFKC", name).strip().startswith("=")
    ]
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [
                ["id", "name"],
                *([name, "A"] for name in [*ids, "last"] if name != "last" or name not in ids),
            ]
        )
    assert [person.id for person in read(path)][: len(ids)] == [
        unicodedata.normalize("NFKC", name).strip() for name in ids
    ]


def test_the_columns_asked_for_are_documented():
    """A column that is read but named nowhere, or the other way round,
    would puzzle an instructor.
    """
    for name in ("id", "student id", "SIS User ID", "SIS Login ID", "ID number"):
        assert f"`{name}`" in roster.__doc__ and name.lower() in roster.IDS
