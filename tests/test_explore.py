"""Explorers: what a control shows is what the model says, a move sends one frame, a fault is seen
and passes.
"""

import base64
import json
import re
import types
from html.parser import HTMLParser

import ipywidgets
import numpy as np
import pytest
from explored import move, near, quantities, set_all

from fabriclab.course.engine import explorer as engine
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider
from fabriclab.course.engine.explorer import explorer as explorer_of
from fabriclab.course.transport import explorers as transport_explorers
from fabriclab.units import GB, KB, MB, ms, us

MAKERS = {"crossover": transport_explorers.crossover, "allreduce": transport_explorers.allreduce}


@pytest.fixture(params=MAKERS)
def explorer(request):
    return MAKERS[request.param]()


def curves(explorer):
    """The lines of the picture by label, those of a legend only."""
    return {
        line.get_label(): line
        for line in explorer.figure.axes[0].lines
        if not line.get_label().startswith("_")
    }


def assert_crossover_is_the_model(explorer):
    at = explorer.values
    lines, shown = explorer.readout.splitlines(), curves(explorer)
    times = {}
    for letter, line in zip("AB", lines):
        alpha, beta = at[f"alpha_{letter.lower()}"], at[f"beta_{letter.lower()}"]
        sizes = np.asarray(shown[f"path {letter}"].get_xdata())
        np.testing.assert_allclose(
            shown[f"path {letter}"].get_ydata(), alpha + sizes / beta, rtol=1e-12
        )
        wire = at["size"] / beta
        times[letter] = alpha + wire
        total, startup, transfer, star = quantities(line)
        assert (
            near(total, alpha + wire)
            and near(startup, alpha)
            and near(transfer, wire)
            and near(star, alpha * beta)
        )
        if "equal" in line:
            assert alpha == pytest.approx(wire)
        else:
            assert ("start-up dominates" in line) == (alpha > wire)
            assert float(
                re.search(r"dominates, ([\d.,e+]+) to 1", line)[1].replace(",", "")
            ) == pytest.approx(max(alpha, wire) / min(alpha, wire), rel=6e-3)
    if faster := re.search(r"([AB]) is ([\d.,e+]+) times faster", lines[2]):
        assert times[faster[1]] == min(times.values())
        assert float(faster[2].replace(",", "")) > 1
        assert float(faster[2].replace(",", "")) == pytest.approx(
            max(times.values()) / min(times.values()), rel=6e-3
        )
    else:
        assert times["A"] == pytest.approx(times["B"], rel=5.1e-3)
    if "no slower" in lines[2]:
        assert (at["alpha_a"] - at["alpha_b"]) * (at["beta_b"] - at["beta_a"]) >= 0
    elif "equal time at" in lines[2]:
        equal = quantities(lines[2])[-1].value
        assert equal > 0
        assert at["alpha_a"] + equal / at["beta_a"] == pytest.approx(
            at["alpha_b"] + equal / at["beta_b"], rel=2e-3
        )


def costs(size, ranks, alpha, beta):
    """The closed forms at a power of two, but for the pipelined tree: that one by trying every
    count of chunks that matters.
    """
    levels = np.log2(ranks)
    chunks = np.unique(np.concatenate([np.arange(1, 200), np.round(np.geomspace(200, 1e9, 4000))]))[
        :, None
    ]
    piped = 2 * (levels + chunks - 1) * (alpha + np.atleast_1d(size) / (chunks * beta))
    return {
        "ring": 2 * (ranks - 1) / ranks * size / beta + 2 * (ranks - 1) * alpha,
        "tree": 2 * levels * (alpha + size / beta),
        "pipelined tree": piped.min(axis=0).reshape(np.shape(size)),
        "recursive doubling": levels * (alpha + size / beta),
        "Rabenseifner": 2 * levels * alpha + 2 * (ranks - 1) / ranks * size / beta,
    }


def assert_allreduce_is_the_model(explorer):
    at = explorer.values
    ticked = {name: at[name.lower().replace(" ", "_")] for name in transport_explorers.ALGORITHMS}
    chosen = [name for name in ticked if ticked[name]]
    if not chosen:
        assert explorer.readout == "Tick at least one algorithm."
        return
    shown, path = curves(explorer), (at["ranks"], at["alpha"], at["beta"])
    sizes = np.asarray(shown["ring"].get_xdata())
    expected, exactly = costs(sizes, *path), costs(at["payload"], *path)
    for name, line in shown.items():
        if name in expected:
            assert line.get_visible() == ticked[name]
            if ticked[name]:
                np.testing.assert_allclose(
                    line.get_ydata(),
                    expected[name],
                    rtol=5e-3 if name == "pipelined tree" else 1e-12,
                )
    first, second, third = explorer.readout.splitlines()
    best = min(exactly[name] for name in chosen)
    named = re.search(r"Fastest shown: ([\w ]+),", first)[1]
    assert named in chosen and exactly[named] == pytest.approx(best, rel=5e-3)
    assert quantities(first)[0].value == pytest.approx(at["payload"]) and quantities(first)[
        1
    ].value == pytest.approx(best, rel=5e-3)
    exposed = max(0, best - at["compute"])
    if "all of it hides" in second:
        assert exposed <= 5e-3 * best
    else:
        assert quantities(second)[0].value == pytest.approx(exposed, rel=5e-3, abs=5e-3 * best)
    ring, hides = exactly["ring"], third.partition("hides up to ")[2]
    assert near(quantities(third)[0], ring)
    assert float(re.search(r"without overlap ([\d.]+)%", third)[1]) == pytest.approx(
        100 * ring / (ring + at["compute"]), abs=0.0501
    )
    if hides:
        # what the readout calls the largest payload fills the compute phase exactly
        assert costs(quantities(third)[1].value, *path)["ring"] == pytest.approx(
            at["compute"], rel=2e-3
        )
    else:
        assert 2 * (at["ranks"] - 1) * at["alpha"] >= at["compute"]


CHECKS = {"crossover": assert_crossover_is_the_model, "allreduce": assert_allreduce_is_the_model}


def test_crossover_opens_on_the_chapters_numbers():
    """Napkin Math 1.1 is not what a reader sees first: 1.58 and 5.32 us, 3.4 times, n* of 75 and
    62.5 KB.
    """
    assert repr(transport_explorers.crossover()).splitlines() == [
        "A: 1.58 us = 1.5 us start-up + 80 ns transfer; start-up dominates, 18.8 to 1 (n* = 75 KB)",
        (
            "B: 5.32 us = 5 us start-up + 320 ns transfer; start-up dominates, 15.6 to 1 (n* ="
            " 62.5 KB)"
        ),
        "4 KB: A is 3.37 times faster, and no slower at any other size.",
    ]


def test_allreduce_opens_on_the_chapters_numbers():
    """Napkin Math 1.2 is not what a reader sees first: a ring of 242.8 ms, 70.6 % of the step."""
    assert repr(transport_explorers.allreduce()).splitlines() == [
        (
            "1,024 ranks, 6 GB each. Fastest shown: Rabenseifner, 239.8 ms; without overlap 70.3%"
            " of the step."
        ),
        "With full overlap 138.7 ms of it stay exposed.",
        (
            "Ring: 242.8 ms; without overlap 70.6% of the step; hides up to 2.453 GB behind 101.1"
            " ms of compute."
        ),
    ]


def test_paths_that_start_together_meet_nowhere_and_a_tie_is_no_win():
    """With one start-up for both, a path would be "1 times faster" and "take equal time at 0 B"."""
    explorer = MAKERS["crossover"]()
    for start in (0.0, 0.5, 1.0):
        for message in (0.0, 0.4, 1.0):
            for rates in ((0.2, 0.7), (0.7, 0.2), (0.5, 0.5), (0.5, 0.51)):
                set_all(explorer, [start, rates[0], start, rates[1], message])
                CHECKS["crossover"](explorer)
                assert " 0 B" not in explorer.readout and " 1 times" not in explorer.readout


@pytest.fixture
def sent(explorer, monkeypatch):
    """The messages that an explorer's canvas sends, as (content, buffers)."""
    messages = []
    monkeypatch.setattr(
        type(explorer.canvas),
        "send",
        lambda self, content, buffers=None: messages.append((content, buffers)),
    )
    return messages


def test_a_move_sends_pixels_and_words_in_one_message(explorer, sent):
    """Picture and readout travel apart, so that a reader may see the one without the other; or a
    move sends twice.
    """
    move(next(iter(explorer.controls.values())), 3)
    ((content, buffers),) = sent
    assert content.pop("grips") == explorer._places()
    assert content == {"readout": explorer.readout, "failed": False}
    same = buffers == [explorer.frame]
    assert same
    width, height = explorer.canvas.size
    assert len(explorer.frame) == 4 * width * height


def test_a_page_that_opens_later_is_sent_what_there_is_now(explorer, sent):
    """A second view, or a reloaded page, shows the picture of the start instead of where the
    sliders stand.
    """
    move(next(iter(explorer.controls.values())), 3)
    explorer.canvas._handle_custom_msg({"ask": "frame"}, [])
    assert sent[1] == sent[0]


def test_only_a_change_of_axes_or_of_what_is_visible_costs_a_full_drawing(monkeypatch):
    """Every move redraws ticks and labels, ten times the work; or a curve that was hidden stays on
    the picture.
    """
    explorer, drawn = transport_explorers.allreduce(), []
    whole = explorer.figure.canvas.draw
    monkeypatch.setattr(explorer.figure.canvas, "draw", lambda: (drawn.append(1), whole()))
    for control in ("ranks", "payload", "alpha", "beta", "compute"):
        move(explorer.controls[control], 4)
    assert not drawn
    explorer.controls["tree"].value = False
    assert len(drawn) == 1
    explorer.figure.axes[0].set_xlim(1, 10)
    move(explorer.controls["alpha"], 1)
    assert len(drawn) == 2


def test_the_model_is_asked_once_for_picture_and_words():
    """Opening or moving runs the model twice, so that a slider drags, or picture and words could
    differ.
    """
    asked = []

    def draw(axes, x):
        return {"line": axes.plot([0, 1], [0, x])}

    def shift(artists, x):
        artists["line"][0].set_ydata([0, x])

    @explorer_of(draw, shift, [{"x": slider("x", range(5), "{} m")}], alt="A line.")
    def line(x=1):
        asked.append(x)
        return [x], [f"x is {x}"]

    shown = line(2)
    assert asked == [2] and shown.readout == "x is 2"
    shown.controls["x"].value = 4
    assert asked == [2, 4] and shown.readout == "x is 4"
    assert list(shown.artists[0].get_ydata()) == [0, 4]


def fragile():
    """An explorer whose model refuses 3 and breaks at 4."""
    figure, axes = plot.new()
    (line,) = axes.plot([0, 1], [0, 0])
    axes.set_ylim(0, 10)

    def model(x):
        if x == 3:
            raise ValueError("x must not be 3")
        line.set_ydata([0, [10, 20, 30, 40][x]])
        return f"x is {x}"

    return Explorer({"x": ipywidgets.IntSlider(1, 0, 9)}, figure, [line], model, alt="A line.")


@pytest.mark.parametrize(
    "bad, words", [(3, "x must not be 3"), (4, "IndexError: list index out of range")]
)
def test_a_fault_is_shown_in_place_and_passes_with_the_next_good_value(bad, words, monkeypatch):
    """What a model raises vanishes, kills the widget, or stays on the screen after the reader has
    moved on.
    """
    explorer, messages = fragile(), []
    monkeypatch.setattr(
        type(explorer.canvas),
        "send",
        lambda self, content, buffers=None: messages.append((content, buffers)),
    )
    frame = explorer.frame
    explorer.controls["x"].value = bad
    assert explorer.readout == words and type(explorer.error).__name__ in (
        "ValueError",
        "IndexError",
    )
    refused = {"readout": words, "failed": True, "grips": []}
    assert messages[-1] == (refused, [])
    same = explorer.frame == frame
    assert same
    assert words in repr(explorer)
    explorer.controls["x"].value = 2
    assert explorer.error is None and explorer.readout == "x is 2"
    assert (
        messages[-1] == ({"readout": "x is 2", "failed": False, "grips": []}, [explorer.frame])
        and explorer.frame != frame
    )


def test_an_explorer_that_cannot_draw_at_all_fails_in_its_cell():
    """A model that is broken from the start is shown as an empty picture instead of an error."""
    figure, _ = plot.new()
    with pytest.raises(ZeroDivisionError):
        Explorer(
            {"x": ipywidgets.IntSlider(0, 0, 9)}, figure, [], lambda x: str(1 / x), alt="Nothing."
        )


class Page(HTMLParser):
    """What a page says: its text, its pictures with their alt text, its controls."""

    def __init__(self, html):
        super().__init__()
        self.images, self.inputs, self.text = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag in ("img", "input"):
            {"img": self.images, "input": self.inputs}[tag].append(dict(attributes))

    def handle_data(self, data):
        self.text += data


def test_a_page_without_a_kernel_has_picture_words_and_controls(explorer):
    """Where no front end can run the widget, a reader finds neither the picture nor the numbers; or
    they differ each time, or are not those of the last move.
    """
    still = explorer._still()
    page = Page(still["text/html"])
    ((image,), sliders) = page.images, page.inputs
    assert still["text/plain"] == explorer.readout and image["alt"] == explorer.alt
    assert explorer.readout in page.text and "Run All Cells" in page.text
    for control in list(explorer.controls.values())[:5]:
        assert control.description in page.text and control.label in page.text
    assert len(sliders) == 5 and all("disabled" in each for each in sliders)
    sharp = base64.b64decode(image["src"].partition(",")[2])
    plain = base64.b64decode(still["image/png"])
    sizes = [
        tuple(int.from_bytes(png[start : start + 4], "big") for start in (16, 20))
        for png in (sharp, plain)
    ]
    width, height = explorer.canvas.size
    assert sizes[0] == (2 * width, 2 * height) and int(image["width"]) == width
    assert sizes[1][0] == width
    assert sizes[1][1] >= height + 20 * (1 + explorer.readout.count("\n"))
    assert explorer._still() == still
    move(next(iter(explorer.controls.values())), 3)
    assert explorer._still()["image/png"] != still["image/png"]
    assert Page(explorer._still()["text/html"]).images != page.images


def test_a_cell_shows_the_still_and_then_the_widget_alone(explorer, monkeypatch):
    """The saved page keeps a dead widget's name where its picture should be, or the picture of the
    start once the reader has moved on.
    """
    shown, updated = [], []
    handle = types.SimpleNamespace(update=lambda data, raw: updated.append(data))
    monkeypatch.setattr(
        engine, "display", lambda data, raw, **named: (shown.append(data), handle)[1]
    )
    explorer._ipython_display_()
    assert list(shown[0]) == ["text/html", "image/png", "text/plain"]
    assert list(shown[1]) == ["application/vnd.jupyter.widget-view+json"]
    explorer.canvas._handle_custom_msg({"rest": 1.0}, [])
    assert updated == []
    move(next(iter(explorer.controls.values())), 3)
    explorer.canvas._handle_custom_msg({"rest": 1.0}, [])
    explorer.canvas._handle_custom_msg({"rest": 1.0}, [])
    assert len(updated) == 1 and updated[0]["text/plain"] == explorer.readout


def test_at_rest_a_fine_screen_gets_the_same_picture_in_more_dots(explorer, sent):
    """On a 2x screen the picture stays soft, is another picture, or the next move is drawn
    wrong.
    """
    explorer.canvas._handle_custom_msg({"rest": 1.0}, [])
    assert sent == []
    explorer.canvas._handle_custom_msg({"rest": 2.0}, [])
    ((content, (pixels,)),) = sent
    width, height = explorer.canvas.size
    assert content == {"sharp": True, "size": [2 * width, 2 * height]}
    fine = np.frombuffer(pixels, np.uint8).reshape(height, 2, width, 2, 4).mean(axis=(1, 3))
    coarse = np.frombuffer(explorer.frame, np.uint8).reshape(height, width, 4)
    assert np.abs(fine - coarse).mean() < 6
    frame = explorer.frame
    move(next(iter(explorer.controls.values())), 1)
    move(next(iter(explorer.controls.values())), -1)
    same = explorer.frame == frame
    assert same


def test_the_words_under_a_printed_picture_fit_it(explorer):
    """The readout under the static picture is cut off at its edge."""
    for control in list(explorer.controls.values())[:5]:
        move(control, 17)
    caption = explorer._caption()
    assert (
        (caption[:, -4:, :3] == 255).all()
        and (caption[-3:, :, :3] == 255).all()
        and (caption[..., :3] < 128).any()
    )


def test_saving_a_notebook_does_not_save_frames(explorer):
    """A saved notebook holds a megabyte of raw pixels for each widget."""
    state = explorer.canvas.get_state()
    assert (
        len(
            json.dumps(
                {
                    name: value
                    for name, value in state.items()
                    if name not in ("layout", "tabbable", "tooltip")
                }
            )
        )
        < 150_000
    )


def test_sliders_say_their_units_and_stand_on_the_chapters_numbers():
    """A slider shows a bare number, or cannot be put on a number that the chapter uses."""
    crossover, allreduce = transport_explorers.crossover(), transport_explorers.allreduce()
    wanted = [
        (crossover.controls["size"], 350 * MB, "350 MB"),
        (crossover.controls["alpha_b"], 5 * us, "5 us"),
        (crossover.controls["beta_b"], 12.5 * GB, "12.5 GB/s"),
        (allreduce.controls["payload"], 280 * GB, "280 GB"),
        (allreduce.controls["compute"], 101.1 * ms, "101.1 ms"),
        (allreduce.controls["ranks"], 65536, "65,536"),
    ]
    for control, value, label in wanted:
        control.value = value
        assert control.label == label
    assert (
        crossover.readout.splitlines()[2]
        == "350 MB: A is 4 times faster, and no slower at any other size."
    )
    assert transport_explorers.crossover(size=123 * KB).values["size"] == 123 * KB
