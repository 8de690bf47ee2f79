"""What every reader does with a file that is cut, mixed, no text, or very long: a clear reason and
the line, nothing else.
"""

import random
import re
import tracemalloc

import pytest

from fabriclab import logs
from fabriclab.__main__ import main
from fabriclab.logs import pairs, source, stream
from tools import incidents
from tools import samples as made

TEXTS = {
    **{
        file: text
        for file, text in made.shipped().items()
        if "slow_port" not in file and "_after" not in file
    },
    "gpu.txt": made.dcgmi_dmon([[(0.99, 0.4)] * 2] * 2),
    "smi.txt": made.nvidia_smi_dmon([[0.5, 0.6]] * 3),
    "pfcwd.txt": made.pfcwd_stats({"Ethernet0:3": (True, 4, 3, 100, 300, 90, 0)}),
    "pfc.txt": made.pfc_counters(
        {"Ethernet0": [0, 0, 0, 1420, 0, 0, 0, 0]}, {"Ethernet0": [0] * 8}
    ),
    "ethtool.txt": made.ethtool({"rx_prio3_pause": 142, "tx_prio3_pause": 0}),
    "counters.txt": incidents.make("counters", 3)["perfquery.txt"],
    "pairs.csv": pairs.as_matrix(pairs.Pairs(("a", "b"), [0, 1], [1, 0], [48e9, 24e9])),
}


@pytest.fixture
def file(tmp_path):
    def put(content, name="log.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def refused(path):
    """The reason for which a file is refused, naming it; None if it is read."""
    try:
        logs.report(path)
    except ValueError as error:
        assert str(error).startswith(str(path)) and len(str(error)) < 600
        return str(error)


@pytest.mark.parametrize("name", TEXTS)
def test_the_whole_file_is_read_and_its_tool_is_told_from_any_other(name, file):
    """A tool's own output would be refused, or taken for another's."""
    assert logs.read(file(TEXTS[name])).path.endswith("log.txt")


@pytest.mark.parametrize("name", TEXTS)
def test_cut_anywhere_it_is_read_or_refused_by_its_name(name, file):
    """A file that ends in the middle would crash its reader, or a half number be read as a whole
    one.
    """
    text, rng = TEXTS[name], random.Random(name)
    for at in rng.sample(range(len(text)), min(25, len(text))):
        refused(file(text[:at]))


@pytest.mark.parametrize("name", TEXTS)
def test_bytes_that_are_no_text(name, file):
    """A disk's garbage inside a log would crash its reader or change what it says without a
    word.
    """
    text, rng = TEXTS[name].encode(), random.Random(name)
    for _ in range(10):
        at = rng.randrange(len(text))
        refused(file(text[:at] + rng.randbytes(9).replace(b"\0", b"\x01") + text[at:]))
    assert "zero byte" in refused(file(text[:40] + b"\0" + text[40:]))


def test_two_tools_in_one_file_are_read_part_by_part(file):
    """The first tool's numbers would be told, and the other's silently lost."""
    rng = random.Random(3)
    names = [
        name for name in TEXTS if not name.startswith(("allreduce", "nccl"))
    ]  # NCCL's log may stand beside its tests
    for _ in range(25):
        one, other = rng.sample(names, 2)
        alone = [logs.readings(file(TEXTS[name])).found[0] for name in (one, other)]
        if alone[0].reader is not alone[1].reader:
            both = logs.readings(file(TEXTS[one] + "\n" + TEXTS[other]))
            assert not both.refused and not both.left, (one, other)
            assert [part.reader for part in both.found] == [part.reader for part in alone]
            said = logs.report(file(TEXTS[one] + "\n" + TEXTS[other]))
            for part in alone:
                told = part.reader.report(part.reading).splitlines()
                assert set(line for line in told if " line " not in line) <= set(said.splitlines())
            with pytest.raises(ValueError, match="holds 2 readings"):
                logs.read(file(TEXTS[one] + "\n" + TEXTS[other]))


def test_a_sign_is_at_the_beginning_of_a_line_or_has_its_word():
    """A tool would be missed in a file because most lines are looked at only from their beginning,
    or for one word.
    """
    lines = [line for text in TEXTS.values() for line in text.splitlines()]
    lines += [f"{'x' * 3} {line}" for line in lines[::7]] + [
        "host:1:2 [0] NCCL INFO x",
        "a host:1:2 [0] NCCL WARN x",
        '   3 1[  ] ==( 4X 25.78125 Gbps Active/ LinkUp)==>  1 2[  ] "x" ( )',
    ]
    for reader in logs.READERS:
        for line in lines:
            found = bool(reader.SIGN.search(line))
            assert found == (
                reader.INSIDE in line and found
                if hasattr(reader, "INSIDE")
                else bool(reader.SIGN.match(line))
            ), (reader.TOOL, line)


def test_a_log_line_behind_other_text_is_still_known(file):
    """NCCL's log behind a launcher's prefix would be no tool's output."""
    assert (
        logs.recognise(file("job 7, rank 0: host-a:1:2 [0] NCCL INFO Using network IB\n")).TOOL
        == "NCCL's log"
    )


def test_a_long_file_costs_no_memory(file):
    """A log of a week would be held in memory as a whole."""
    path = file(
        TEXTS["perfquery_before.txt"]
        + "2026-01-05 some other program's line, of no interest here" * 4
        + "\n"
        + ("x" * 400 + "\n") * 5_000
    )
    tracemalloc.start()
    logs.report(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 2e6 and most < 5e5


def test_a_file_beyond_the_bound_is_refused_at_once(file):
    """A terabyte would be read for hours before it is refused."""
    path = file("")
    with open(path, "r+b") as opened:
        opened.truncate(source.LARGEST_FILE + 1)
    assert "larger than 256 MiB" in refused(path)


def test_a_terminal_sees_how_far_a_long_file_is(file, monkeypatch, capsys):
    """One who waits for a long file would see nothing, or one who pipes the output find a progress
    line in it.
    """
    path = file(TEXTS["perfquery_before.txt"] + "another line\n" * 1000)
    monkeypatch.setattr(stream, "LONG_FILE", 4096)
    monkeypatch.setattr(stream, "_BLOCK", 2048)
    logs.report(path)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    logs.report(path)
    said = capsys.readouterr().err
    assert re.search(r": \d\d% read", said) and said.endswith("\x1b[K")


def test_hostile_names(file, capsys, tmp_path):
    """A file's name with an escape would act on the terminal of one who reads the reason."""
    path = file("nothing known\n", "a\x1b[2J\nb.txt")
    assert main(["read", str(path)]) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said and said.count("\n") == 1


@pytest.mark.parametrize("mark", ["\x07", "\x1b[2", "\b", "\x9b31m", "\u202e", "\x7f"])
def test_no_name_inside_a_file_acts_on_the_terminal(mark, file, capsys):
    """A host whose name rings a bell, wipes the line or turns the text around would do so when its
    report is shown.
    """
    path = file(f"source,target,bandwidth [Gb/s]\na{mark},b,384\nb,a{mark},192\n", "pairs.csv")
    assert main(["read", str(path)]) < 2
    said = capsys.readouterr().out
    assert "a?" in said and all(character.isprintable() or character == "\n" for character in said)


def test_other_line_breaks_are_blanks(file):
    """A carriage return inside a row would glue two numbers together, or wipe what stands before
    it.
    """
    assert [line.text for line in source.lines(file("a\rb\x0cc\u2028d\te\r\n"))] == ["a b c d\te"]
