"""The incident as a game: one model, a face in the terminal and one in the notebook."""

import pytest
from test_logs_perfquery import ROOT

from fabriclab.__main__ import main
from fabriclab.course.monitoring import game as game_face
from fabriclab.logs.diagnose import CAUSES, game

HOME = ROOT / "notebooks" / "incidents"


def test_a_measurement_is_charged_once_and_tells_the_file():
    """Minutes would not be counted, be counted twice, or the file stay hidden."""
    played = game.Game(HOME / "06-juniper")
    assert "write_bw.txt" in {one.file for one in played.choices} and played.minutes == 0
    assert "incident.toml" not in {one.file for one in played.choices}
    assert "one lane" not in played.symptom and "before. The job: " in played.symptom
    said = played.measure("mlxlink.txt")
    assert said.startswith("mlxlink:") and played.minutes == game.MINUTES["mlxlink"]
    assert played.measure("mlxlink.txt") == said and played.minutes == game.MINUTES["mlxlink"]
    assert "mlxlink.txt" not in {one.file for one in played.choices}
    with pytest.raises(ValueError, match="file must be one of"):
        played.measure("none.txt")


@pytest.mark.parametrize("name", sorted(path.name for path in HOME.iterdir()))
def test_every_incident_can_be_won_and_lost(name):
    """The game would call a right answer wrong, or a wrong one right."""
    played = game.Game(HOME / name)
    assert played.right is None
    truth = played.found.cause or game.HEALTHY
    for choice in played.choices:
        played.measure(choice.file)
    assert "\nRight." in played.name(truth) and played.right
    assert played.minutes == sum(game.MINUTES.get(one.tool, 10) for one in played._choices.values())
    other = next(cause for cause in played.causes if cause != truth)
    assert "another cause" in played.name(other) and played.right is False
    with pytest.raises(ValueError, match="cause must be one of"):
        played.name("sunspots")


def test_a_guess_is_called_one():
    """Who measures nothing would be told that the evidence was on their side."""
    played = game.Game(HOME / "06-juniper")
    assert "though you had measured nothing that shows it" in played.name(CAUSES["link"].name)


def test_every_shipped_file_has_its_minutes():
    """A tool that is renamed would cost the minutes of an unknown one."""
    for path in HOME.iterdir():
        assert all(one.tool in game.MINUTES for one in game.Game(path).choices)


def scripted(*answers):
    left = list(answers)

    def ask(prompt):
        if not left:
            raise EOFError
        return left.pop(0)

    return ask


def test_in_a_terminal():
    """The terminal's game would not end, lose the answer, or take nonsense for a choice."""
    said, cause = [], str(1 + list(CAUSES).index("link"))
    played = game.Game(HOME / "06-juniper")
    assert game.play(played, scripted("9x", "0", "1", "c", "", "c", cause), said.append) == 0
    text = "\n".join(said)
    assert "type a number of the list" in text and "Right" in text and "diagnose, with all" in text
    assert all(len(line) <= 100 for line in text.splitlines() if "   " not in line.strip())
    other = game.Game(HOME / "06-juniper")
    assert game.play(other, scripted("c", "1"), said.append) == 1
    assert game.play(other, scripted(), said.append) == 2


def test_the_command_without_answers(monkeypatch, capsys):
    """In a script, with no one to answer, it would wait for ever or end in a traceback."""
    monkeypatch.setattr("builtins.input", scripted())
    assert main(["incident", str(HOME / "04-elm")]) == 2
    assert "given up" in capsys.readouterr().out
    assert main(["incident", "nowhere"]) == 2
    assert "04-elm" in capsys.readouterr().err
    assert game.find("04-elm").name == "04-elm" and game.find().parent.name == "incidents"


def test_in_a_notebook():
    """The notebook's game would be another game, act on no press, or leave an empty page where no
    widget runs.
    """
    table = game_face.incident(HOME / "06-juniper")
    data = table._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert (
        "mlxlink.txt (mlxlink), 10 min" in data["text/html"] and repr(table) in data["text/plain"]
    )
    table.end.click()
    assert not table.page.value  # no cause chosen yet
    for _ in table.game.choices:
        table.go.click()
    assert not table.game.choices
    assert "mlxlink:" in table.page.value and table.go.disabled
    assert f"{table.game.minutes} minutes" in table.clock.value and table.game.minutes > 10
    table.cause.value = CAUSES["link"].name
    table.end.click()
    assert "Right." in table.page.value and table.game.right
