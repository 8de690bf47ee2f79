"""The whole in a reader's hands: JupyterLab in Chromium, a slider moved from the keyboard, an
exercise answered.

Needs Chromium (the variable CHROMIUM, or the system's); without it these tests skip, and fail where
CI is set.
"""

import os
import pathlib
import shutil

import lab
import nbformat
import pytest

from fabriclab import doctor
from fabriclab.course.engine import exercises
from fabriclab.course.transport import explorers as transport_explorers
from fabriclab.units import si

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEVEL_2 = "notebooks/03-transport.ipynb"
# small of itself: both explorers, and one that can be made to fail
BENCH = [
    (
        "from fabriclab.course.transport import explorers as transport_explorers\ncrossover ="
        " transport_explorers.crossover()\ncrossover"
    ),
    "allreduce = transport_explorers.allreduce()\nallreduce",
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """One JupyterLab for all tests, over a copy of the notebooks, so that nothing a test does is
    left in the repository.
    """
    if doctor.chromium() is None:
        missing = "no Chromium here: install it, or name it in the variable CHROMIUM"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    folder = tmp_path_factory.mktemp("lab")
    for part in ("notebooks", "exercises"):
        shutil.copytree(
            ROOT / part, folder / part, ignore=shutil.ignore_patterns(".ipynb_checkpoints")
        )
    kernel = {
        "kernelspec": {
            "name": "python3",
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
        }
    }
    nbformat.write(
        nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in BENCH], metadata=kernel
        ),
        folder / "bench.ipynb",
    )
    with lab.server(folder) as running:
        yield running


@pytest.fixture(scope="module")
def chromium(address):
    with lab.browser() as running:
        yield running


@pytest.fixture
def opened(chromium, address, request):
    """A page on the notebook that the test is parametrized with, all its cells run."""
    page = lab.Page(chromium, address, request.param)
    try:
        assert page.run_all() == []
        yield page
        assert page.complaints == []
    finally:
        page.close()


def press(page, label, key, times, nth=0):
    """Press a key on a slider, one press after another."""
    page.slider(label, nth).focus()
    for _ in range(times):
        page.page.keyboard.press(key)


def assert_shows(page, twin, nth=0):
    """The `nth` explorer shows what `twin`, moved alike in this process, has computed: the same
    words and the same pixels.
    """
    page.wait_for_readout(twin.readout, nth)
    assert page.pixels(nth) == twin.frame


@pytest.mark.parametrize("opened", ["bench.ipynb"], indirect=True)
def test_a_slider_moves_picture_and_words_together_to_the_models_value(opened):
    """A key press changes only one of picture and words, or brings them to another value than the
    model's.
    """
    twin = transport_explorers.crossover()
    assert_shows(opened, twin)
    press(opened, "message n", "ArrowRight", 5)
    twin.controls["size"].index += 5
    # 4 KB is followed by 5, 6, 7, 8, 9 KB
    nine = 1.5e-6 + 9e3 / 50e9
    assert twin.readout.startswith(f"A: {si(nine, 's')} = 1.5 us start-up + 180 ns transfer")
    assert_shows(opened, twin)
    press(opened, "B: start-up α", "ArrowLeft", 3)
    twin.controls["alpha_b"].index -= 3
    assert_shows(opened, twin)


@pytest.mark.parametrize("opened", ["bench.ipynb"], indirect=True)
def test_picture_and_words_never_disagree_on_the_way(opened):
    """While a key is held down, a reader sees the words of one move over the picture of another."""
    opened.canvas()
    opened.page.evaluate("""() => {
        const root = document.querySelector(".fabriclab-canvas"), canvas = \
root.querySelector("canvas");
        window.seen = {};
        const look = () => {
            const hash = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, \
canvas.height).data.buffer).reduce((h, p) => (Math.imul(h, 31) + p) | 0, 0);
            (window.seen[root.querySelector("[role=status]").textContent] ??= new Set()).add(hash);
            requestAnimationFrame(look);
        };
        look();
    }""")
    press(opened, "message n", "ArrowRight", 30)
    twin = transport_explorers.crossover()
    twin.controls["size"].index += 30
    opened.wait_for_readout(twin.readout)
    pictures = opened.page.evaluate("Object.values(window.seen).map(hashes => hashes.size)")
    assert len(pictures) > 2 and set(pictures) == {1}


@pytest.mark.parametrize("opened", ["bench.ipynb"], indirect=True)
def test_a_fault_shows_in_place_and_passes(opened):
    """With nothing ticked the reader sees no reason, the page jumps, or the explorer stays dead
    after a good choice.
    """
    twin, boxes = transport_explorers.allreduce(), opened.page.locator(".widget-checkbox input")
    assert_shows(opened, twin, 1)
    height = opened.canvas(1).bounding_box()["height"]
    for name in transport_explorers.ALGORITHMS:
        opened.page.get_by_label(name, exact=True).uncheck()
    opened.wait_for_readout("Tick at least one algorithm.", 1)
    assert opened.canvas(1).evaluate("e => e.classList.contains('fabriclab-failed')")
    assert opened.canvas(1).bounding_box()["height"] == height
    boxes.first.check()
    for name in list(transport_explorers.ALGORITHMS)[1:]:
        twin.controls[name.replace(" ", "_").lower()].value = False
    assert_shows(opened, twin, 1)
    assert not opened.canvas(1).evaluate("e => e.classList.contains('fabriclab-failed')")


@pytest.mark.parametrize("opened", ["bench.ipynb"], indirect=True)
def test_a_narrow_window_keeps_the_picture_whole(opened):
    """On half a screen the picture is cut off or pressed out of shape, or words run out of the
    cell.
    """
    opened.canvas()
    opened.page.set_viewport_size({"width": 700, "height": 1000})
    opened.page.wait_for_function(
        "document.querySelector('.fabriclab-canvas canvas').clientWidth < 500"
    )
    for nth, twin in enumerate((transport_explorers.crossover(), transport_explorers.allreduce())):
        box = opened.canvas(nth).locator("canvas").bounding_box()
        assert box["width"] / box["height"] == pytest.approx(
            twin.canvas.size[0] / twin.canvas.size[1], rel=0.01
        )
        assert opened.canvas(nth).evaluate(
            "e => e.scrollWidth <= e.closest('.jp-OutputArea-output').clientWidth"
        )


@pytest.mark.parametrize("opened", [LEVEL_2], indirect=True)
def test_the_notebook_on_transport_runs_and_its_explorers_answer(opened):
    """Run in JupyterLab, the notebook shows an error or a dead explorer."""
    for label, make, control in (
        ("message n", transport_explorers.crossover, "size"),
        ("payload M", transport_explorers.allreduce, "payload"),
    ):
        twin, nth = make(), 0 if control == "size" else 1
        assert_shows(opened, twin, nth)
        press(opened, label, "ArrowRight", 4)
        twin.controls[control].index += 4
        assert_shows(opened, twin, nth)
    # letters typed into a scene's player are JupyterLab's shortcuts everywhere else
    page, scene = opened.page, "[data-scene='transport.ring']"
    cells = page.locator(".jp-Cell").count()
    page.locator(f"{scene} input").focus()
    for key in ["a", "b", "x", "d", "d", "End"]:
        page.keyboard.press(key)
    assert page.locator(".jp-Cell").count() == cells
    assert float(page.locator(scene).get_attribute("data-at")) == pytest.approx(56)  # us


@pytest.mark.parametrize("opened", ["exercises/03-transport.ipynb"], indirect=True)
def test_an_exercise_is_answered_wrongly_and_then_rightly(opened):
    """A student types an answer, runs the cell, and is told something else than what the answer
    deserves.
    """
    # for "demo", alpha = 5 us and beta = 200 Gb/s = 25 GB/s: n* = 125 KB
    for answer, status in (("1 MB", "wrong"), ("125 KB", "right")):
        verdict = exercises.grade("demo", "transport.crossover", answer)
        assert verdict.status == status
        said = opened.answer(
            "q1.check(", f'q1.check("{answer}")', verdict.message.split(". ")[0][:60]
        )
        assert " ".join(said.split())[2:] == " ".join(verdict.message.split())  # after its sign
