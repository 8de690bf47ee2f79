"""Predictions: keys, guesses, the diary, and the places in the notebooks that ask for one."""

import ast
import math
import os
import re
from pathlib import Path

import lab
import nbformat
import pytest

from fabriclab import doctor
from fabriclab.course.engine import predict

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
SLOW = ("victims",)  # the same simulation; its judge is the same code
ALL = [name for name in predict.ids() if name.split(".")[1] not in SLOW]


@pytest.fixture(scope="module")
def chromium():
    if doctor.chromium() is None:
        missing = "no Chromium (set CHROMIUM to one, or install the package chromium)"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    with lab.browser() as running:
        yield running


@pytest.fixture(scope="module")
def keys():
    return {name: predict.find(name).key() for name in ALL}


def guesses_in(source):
    """The ids that a cell's call of predict names."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [
        arg.value
        for call in calls
        if getattr(call.func, "id", "") == "predict"
        for arg in call.args
    ]


def test_the_reader_accepts_each_key_and_names_half_of_it(keys):
    """A key that its own reader refuses, or half of which is not called half."""
    for name, key in keys.items():
        one = predict.find(name)
        if one.options:
            assert key in one.options, name
            assert predict.judge(one, key).near and not all(
                predict.judge(one, option).near for option in one.options
            ), name
            continue
        assert math.isfinite(key) and key >= 0, name
        assert predict.judge(one, one.shown(key)).near, name
        if key:
            typed = f"{key / 2 * (8 if one.unit == 'b/s' else 1):.12g}"
            typed = (
                f"${typed}"
                if one.unit == "$"
                else f"{50 * key:.12g} %"
                if one.unit == "%"
                else f"{typed} {one.unit}".strip()
            )
            assert re.search(r"\bhalf\b", predict.judge(one, typed).says), (name, typed)


def test_a_slip_has_a_value_apart_from_the_key(keys):
    """A slip whose value is the key itself would blame a right guess."""
    for name, key in keys.items():
        for slip in predict.find(name).slips:
            assert not math.isclose(slip.value(), key, rel_tol=0.02), (name, slip.name)


def test_a_slip_is_named():
    """The way out forgotten: half, and why."""
    said = predict.judge(predict.find("transport.host_memory"), "350 GB").says
    assert "half" in said and "the way in and not the way out" in said


@pytest.mark.parametrize("guess", ["", "many", "7", "7 ms", "NaN", "3,5 GB", None])
def test_what_is_no_guess_is_said_so_and_not_judged(guess):
    """A blank, a bare number or another unit judged as if it were an answer."""
    assert predict.commit("transport.host_memory", guess).startswith("Could not read this")


def test_a_share_may_be_given_bare():
    """82 and 0.82 for 82 %."""
    one = predict.find("monitoring.degraded")
    assert predict.judge(one, "95").near and predict.judge(one, "0.95").near
    assert not predict.judge(one, "12").near


def test_every_place_that_asks_has_its_prediction():
    """A "Predict." without a form, a form without a question, or a prediction that nobody shows."""
    shown = []
    for path in NOTEBOOKS:
        asked = None
        for cell in nbformat.read(path, 4).cells:
            if cell.cell_type == "markdown" and re.search(
                r"\*\*Predict[.:]?\*\*[.:,]?", cell.source
            ):
                assert asked is None, f"{path.name}: {asked} asks and nothing answers"
                asked = None if re.search(r"^(# |## The map)", cell.source, re.M) else cell.id
            elif cell.cell_type == "code" and (names := guesses_in(cell.source)):
                assert asked is not None, f"{path.name}: {cell.id} follows no question"
                assert cell.id == f"predict-{asked}"
                shown += names
                asked = None
        assert asked is None, f"{path.name}: {asked} asks and nothing answers"
    assert sorted(shown) == sorted(predict.ids())


def test_what_answers_is_folded_in_the_saved_notebook_and_waits_for_a_key_in_slides():
    """The first printed answer standing open under its question, or on the question's own slide."""
    for path in NOTEBOOKS:
        cells = nbformat.read(path, 4).cells
        for place, cell in enumerate(cells):
            if not cell.id.startswith("predict-"):
                continue
            after = cells[place + 1]
            if (
                after.cell_type == "code"
                and "print(" in after.source
                and "Picture(" not in after.source
            ):
                # both, as JupyterLab writes both when it saves
                folded = after.metadata.get("jupyter", {}).get("outputs_hidden")
                assert folded and after.metadata.get("collapsed"), (path.name, after.id)
            kind = cell.metadata.get("slideshow", {}).get("slide_type")
            assert kind in (None, "skip"), "the form would bring the number with it"
            for one in cells[place + 1 :]:
                if shows := one.metadata.get("slideshow", {}).get("slide_type"):
                    assert shows in ("slide", "subslide", "fragment", "skip", "notes")
                    break


def test_the_saved_form_asks_and_folds_the_number():
    """A page without scripts that shows the number, or does not show the question."""
    page = predict.form(predict.find("wires.line_rate"))
    before, folded = page.split("<details>")
    assert "the line rate of a 400 Gb/s port" in before.split(">", 1)[1]
    assert "425 Gb/s" not in before.split(">", 1)[1] and "425 Gb/s" in folded


def test_the_first_guess_is_kept_beside_exercises(tmp_path, monkeypatch):
    """A second guess that overwrites the first, or guesses that wipe out a student's progress."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(predict.diary, "is_on", lambda: True)
    predict.diary.write("ann", "transport.crossover", "right")
    predict.commit("transport.n_star", "10 KB", 70)
    predict.commit("transport.n_star", "75 KB", 90)
    predict.commit("transport.napkin", "0.2 s")
    assert predict.guesses()["transport.n_star"] | {"day": 0} == {
        "guess": "10 KB",
        "near": False,
        "sure": 70,
        "day": 0,
    }
    assert predict.diary.read("ann")["transport.crossover"]["last"] == "right"
    told = predict.summary(predict.guesses(), 9)
    assert "guessed 2 of 9" in told and "on 1 of 2" in told and "70 % sure: good on 0 of 1" in told


def test_a_damaged_diary_stops_nobody(tmp_path, monkeypatch):
    """A file of nonsense that raises in a reader's notebook."""
    monkeypatch.chdir(tmp_path)
    for text in ("", "[]", '{"/predictions": 3}', '{"/predictions": {"a": 1}}'):
        (tmp_path / "progress.json").write_text(text)
        assert predict.guesses() == {}


def test_an_unknown_name_is_answered_with_close_ones():
    """A typing error answered with a bare KeyError."""
    with pytest.raises(ValueError, match="did you mean transport.host_memory"):
        predict.predict("transport.host_memry")


def test_a_page_without_a_kernel_takes_a_guess_by_keyboard(chromium):
    """The form missing, the number shown before the guess, or a reader at odds with ours."""
    asked = {
        "transport.host_memory": ["350 GB", "2.8 Tb", "0.7 TB", "2000 MB"],
        "wires.line_rate": ["400 Gb/s", "850 Gb/s"],
        "monitoring.degraded": ["47.5 %", "95", "0.95"],
        "topology.idle_money": ["$142.1 M", "$71.05 M"],
        "fallacies.thousand": ["9.766 h", "293 min"],
    }
    page = chromium.new_page()
    for name, guesses in asked.items():
        one = predict.find(name)
        for guess in guesses:
            page.set_content(f"<div>{predict.form(one)}</div><script>{predict.SCRIPT}</script>")
            number = page.locator("details")
            assert not number.evaluate("e => e.open")
            page.locator("input").focus()
            page.keyboard.type(guess)
            page.keyboard.press("Enter")
            said = page.locator("[role=status]").inner_text()
            ours = re.search(r": ([^.]*(?:\.\d[^.]*)*)\.", predict.judge(one, guess).says).group(1)
            assert f": {ours}." in said, (name, guess, said, ours)
            assert number.evaluate("e => e.open")
    page.set_content(f"<div>{predict.form(one)}</div><script>{predict.SCRIPT}</script>")
    page.locator("button").click()
    assert page.locator("[role=status]").inner_text() == "Write a guess first."
    page.close()
