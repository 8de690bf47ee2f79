"""Reports as wide as the terminal."""

from fabriclab.__main__ import main
from fabriclab.telemetry import made
from fabriclab.telemetry.page import TERMINAL, wrap


def test_long_sentences_are_folded_whole():
    """A word would be broken, a sentence lose its end, or a table its columns."""
    sentence = "  ! " + " ".join(f"word-{at} of/that" for at in range(40))
    folded = wrap(sentence).split("\n")
    assert len(folded) > 1 and all(len(line) <= TERMINAL for line in folded)
    assert " ".join("".join(line + " " for line in folded).split()) == " ".join(sentence.split())
    assert all(line.startswith("    ") for line in folded[1:])
    table = "     1 MiB   19.38 /  19.24" * 8
    assert wrap(table) == table and wrap("short\n\nlines") == "short\n\nlines"
    assert wrap("x" * 300) == "x" * 300


def test_read_tells_by_its_status_that_something_stands_out(tmp_path, capsys):
    """A script would take a file with wrong results or a link that is down for a sound one."""
    sound, down = tmp_path / "sound.txt", tmp_path / "down.txt"
    sound.write_text(made.mlxlink([10] * 4, 86400.0, colours=False))
    down.write_text(sound.read_text().replace("Active", "Polling"))
    assert main(["read", str(sound)]) == 0
    assert main(["read", str(down), str(sound)]) == 1
    assert main(["read", str(down), str(tmp_path / "none")]) == 2
    assert "! the link is not up" in capsys.readouterr().out
