"""Notebooks as students send them: read as far as they go, or refused in one line; never run, never
followed, never waited for.
"""

import json
import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab.classroom import submission

ASKS = ['q1 = me.ask("transport.crossover")', 'q2 = me.ask("transport.time")']
CELLS = ["import fabriclab", *ASKS, 'q1.check("75 KB")', "# 延迟\nq2.check('1 us')"]


def notebook(sources=CELLS, kinds=None, **more):
    cells = [
        {
            "cell_type": kind,
            "metadata": {},
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
        for source, kind in zip(sources, kinds or ["code"] * len(sources), strict=True)
    ]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells} | more


TEXT = json.dumps(notebook(), ensure_ascii=False, indent=1)


def sent(folder, content):
    path = folder / "sent.ipynb"
    path.write_bytes(content if type(content) is bytes else content.encode("utf-8"))
    return path


def refusal(path):
    with pytest.raises(submission.Refused) as caught:
        submission.read(path)
    words = str(caught.value)
    assert "\n" not in words and len(words) < 200
    return words


def with_old_cells():
    cells = [
        {
            "cell_type": "code",
            "language": "python",
            "input": source.splitlines(keepends=True),
            "outputs": [],
        }
        for source in CELLS
    ]
    return json.dumps(
        {
            "nbformat": 3,
            "nbformat_minor": 0,
            "metadata": {},
            "worksheets": [{"cells": cells[:2]}, {"cells": cells[2:]}],
        }
    )


@pytest.mark.parametrize(
    "content, says",
    [
        (TEXT, ""),
        (json.dumps(notebook([source.splitlines(keepends=True) for source in CELLS])), ""),
        (json.dumps(notebook(nbformat=4, nbformat_minor=0)), ""),
        (json.dumps(notebook(nbformat="7?", metadata=[])), ""),
        (with_old_cells(), "old notebook"),
        (TEXT.replace("\n", "\r\n").replace("\\n", "\\r\\n"), ""),
        (b"\xef\xbb\xbf" + TEXT.encode(), ""),
        (TEXT.encode("utf-16"), "UTF-16"),
        (TEXT.replace('"nbformat": 4,', '"nbformat": 4, "nbformat": 4,'), "a key twice"),
        (
            json.dumps(
                notebook()
                | {
                    "cells": [
                        7,
                        {"cell_type": "code"},
                        *notebook()["cells"],
                        {"cell_type": "code", "source": {"a": 1}},
                    ]
                }
            ),
            "3 damaged cells",
        ),
        (
            json.dumps(
                notebook()
                | {
                    "cells": [
                        cell | {"id": "same", "attachments": {"x": 1}, "outputs": "none"}
                        for cell in notebook()["cells"]
                    ]
                }
            ),
            "",
        ),
    ],
)
def test_a_notebook_of_any_make_gives_its_code(tmp_path, content, says):
    """An editor's way of saving, or an old Jupyter, would cost a student the whole notebook."""
    read = submission.read(sent(tmp_path, content))
    assert [cell.source for cell in read.cells] == CELLS
    assert [cell.exercise for cell in read.cells] == [
        "",
        "transport.crossover",
        "transport.time",
        "transport.crossover",
        "transport.time",
    ]
    assert read.asks == ("transport.crossover", "transport.time")
    assert says in " ".join(read.notes) and bool(says) == bool(read.notes)


@pytest.mark.parametrize(
    "encoding, comment, kept, says",
    [
        ("gb18030", "# 这一段是我的答案", "# 这一段是我的答案", "read as GB 18030"),
        ("latin-1", "# caf\xe9", "# caf\ufffd", "what could not be read"),
    ],
)
def test_text_in_another_encoding_loses_no_answer(tmp_path, encoding, comment, kept, says):
    """A notebook saved by an older editor would be refused for one comment, or a Chinese essay
    would come out as question marks.
    """
    read = submission.read(
        sent(
            tmp_path,
            TEXT.replace("q2.check('1 us')", f"q2.check('1 us'){comment}").encode(
                encoding, "replace"
            ),
        )
    )
    assert [cell.exercise for cell in read.cells][
        -1
    ] == "transport.time" and f"q2.check('1 us'){kept}" in read.cells[-1].source
    assert "not UTF-8" in read.notes[0] and says in read.notes[0]


def test_what_a_full_disk_appends_costs_nothing(tmp_path):
    """A file padded with NUL, as after a crash or from a sync folder, would be refused though all
    of it is there.
    """
    assert submission.read(sent(tmp_path, TEXT.encode() + b"\n" + b"\0" * 4096)) == submission.read(
        sent(tmp_path, TEXT)
    )


@pytest.mark.parametrize(
    "content, says",
    [
        ("", "the file is empty"),
        (" \r\n\ufeff ", "the file is empty"),
        (b"\0" * 1000, "the file is empty"),
        (b"PK\x03\x04" + b"\0" * 100, "a zip archive"),
        (b"%PDF-1.7 ...", "a PDF"),
        (b"\x1f\x8b\x08", "a gzip archive"),
        (b"\x89PNG\r\n", "a picture"),
        (b"\xd0\xcf\x11\xe0", "an office document"),
        ("<!DOCTYPE html><html></html>", "a web page"),
        (b"\x7fELF\x02\0\0", "not text"),
        (b"\1\0\1\2", "not text"),
        ("import numpy as np\nq1.check(1)\n", "begins with {"),
        ("[1, 2]", "no list of cells"),
        ("{}", "no list of cells"),
        ("null", "no list of cells"),
        ('{"cells": 7, "worksheets": {}}', "no list of cells"),
        (TEXT[:-2], "breaks off at line"),
        (TEXT[: len(TEXT) // 2], "breaks off at line"),
        (TEXT.replace('"metadata"', "metadata", 1), "it is not JSON at line 4, column 2"),
        (
            TEXT.replace(
                '\n "cells": [',
                '\n<<<<<<< HEAD\n "cells": [\n=======\n "cells": [\n>>>>>>> theirs',
                1,
            ),
            "line 5 is a mark of an unfinished merge (<<<<<<<)",
        ),
        ("[" * 10**6, "nested too deeply"),
        ('{"cells":' * 10**5, "nested too deeply"),
        ('{"cells": ' + "7" * 10**5 + "}", "a number too long"),
    ],
)
def test_what_is_no_notebook_is_refused_in_a_line(tmp_path, content, says):
    """A student who sends the wrong file must read which, and the batch must go on."""
    assert says in refusal(sent(tmp_path, content))


def test_what_is_no_file_is_neither_followed_nor_waited_for(tmp_path):
    """A link would lead to another's work or the key; a pipe would hold the batch for ever; a
    device would fill memory.
    """
    real = sent(tmp_path, TEXT)
    (tmp_path / "link").symlink_to(real)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        assert "a link" in refusal(tmp_path / "link") and "a link" in refusal(tmp_path / "loop")
        assert "not a regular file" in refusal(
            tmp_path / "pipe"
        ) and "not a regular file" in refusal(tmp_path / "socket")
    assert "a folder" in refusal(tmp_path) and "not a regular file" in refusal("/dev/zero")
    assert "no such file" in refusal(tmp_path / "nothing") and "cannot be read" in refusal(
        tmp_path / ("x" * 300)
    )


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    """Two hundred megabytes times three hundred students do not fit into memory."""
    path = sent(tmp_path, TEXT)
    os.truncate(path, 200 * 2**20)
    assert "more than 64 MiB" in refusal(path)


def test_more_cells_than_anyone_writes_are_cut(tmp_path):
    """A million cells would take a day."""
    read = submission.read(sent(tmp_path, json.dumps(notebook(["1"] * 1_200))))
    assert len(read.cells) == submission.MOST_CELLS and "1,200 code cells" in read.notes[0]


def test_an_answer_in_a_cell_that_is_no_code_is_told(tmp_path):
    """One wrong key turns a cell into Markdown, and its answer into silence."""
    known = {"q1": "transport.crossover", "q2": "transport.time"}
    read = submission.read(
        sent(tmp_path, json.dumps(notebook(CELLS, ["code", "code", "code", "markdown", "raw"]))),
        known,
    )
    assert read.retyped == {
        "transport.crossover": "cell 4, with q1.check, is a Markdown cell: it was not run",
        "transport.time": "cell 5, with q2.check, is a raw cell: it was not run",
    }
    told = submission.read(
        sent(tmp_path, json.dumps(notebook(["Then call `q1.check(...)`, once."], ["markdown"]))),
        known,
    )
    assert told.retyped == {}


def test_the_exercises_of_a_released_notebook(tmp_path):
    """The list decides what a class can earn: an id asked twice counts once, one in a comment or in
    text not at all.
    """
    sources = [
        *CELLS,
        ASKS[0],
        "# q9 = me.ask('transport.ring')",
        "print('me.ask(x)')",
        "me.ask( 'transport.ring' )",
    ]
    path = sent(tmp_path, json.dumps(notebook(sources)))
    assert submission.exercise_ids(path) == [
        "transport.crossover",
        "transport.time",
        "transport.ring",
    ]
    assert submission.variables(path) == {"q1": "transport.crossover", "q2": "transport.time"}
    assert submission.released(path)[:3] == tuple(CELLS[:3]) and not [
        source for source in submission.released(path) if ".check" in source
    ]
    with pytest.raises(ValueError, match="asks no exercise"):
        submission.exercise_ids(sent(tmp_path, json.dumps(notebook(["1"]))))


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["cells", "worksheets", "cell_type", "source", "input", "x"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
def test_any_json_is_read_or_refused(tmp_path_factory, content):
    """An exception of another kind would stop the batch at one student's file."""
    path = sent(tmp_path_factory.getbasetemp(), json.dumps(content))
    try:
        read = submission.read(path)
        assert all(type(cell.source) is str for cell in read.cells)
    except submission.Refused as error:
        assert str(error)


@given(st.data())
def test_damage_anywhere_is_read_or_refused(tmp_path_factory, data):
    """Bytes lost or changed on the way must not stop the batch either."""
    whole = bytearray(TEXT.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=6))
    try:
        submission.read(sent(tmp_path_factory.getbasetemp(), bytes(whole)))
    except submission.Refused as error:
        assert str(error)
