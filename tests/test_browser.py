"""The whole in a reader's hands: JupyterLab in Chromium, a slider moved from the keyboard, an
exercise answered.

Needs Chromium (the variable CHROMIUM, or the system's); without it these tests skip, and fail where
CI is set.
"""

import functools
import hashlib
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
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def address(folder):
    """One JupyterLab for all tests, over a copy of the notebooks, so that nothing a test does is
    left in the repository.
    """
    if doctor.chromium() is None:
        missing = "no Chromium here: install it, or name it in the variable CHROMIUM"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
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
    for name in ("bench.ipynb", "next-day.ipynb"):
        nbformat.write(
            nbformat.v4.new_notebook(
                cells=[nbformat.v4.new_code_cell(source) for source in BENCH], metadata=kernel
            ),
            folder / name,
        )
    with lab.server(folder) as running:
        yield running


@pytest.fixture(scope="module")
def chromium(address):
    with lab.browser() as running:
        yield running


@pytest.fixture(scope="module")
def pages(chromium, address):
    """The page of a notebook, opened once."""
    opened = functools.cache(functools.partial(lab.Page, chromium, address))
    yield opened


@pytest.fixture
def opened(pages, request):
    """A page on the notebook that the test is parametrized with, all its cells run."""
    page = pages(request.param)
    page.complaints.clear()
    page.page.set_viewport_size({"width": 1280, "height": 1000})
    assert page.run_all() == []
    yield page
    assert page.complaints == []


@pytest.fixture(scope="module")
def saved(chromium, address, folder):
    """The bench run, its first slider moved, saved, and its kernel ended: what a reader has the
    next day.
    """
    page = lab.Page(chromium, address, "next-day.ipynb")
    assert page.run_all() == []
    assert_shows(page, transport_explorers.crossover())
    press(page, "message n", "ArrowRight", 5)
    twin = transport_explorers.crossover()
    twin.controls["size"].index += 5
    page.wait_for_readout(twin.readout)
    page.page.wait_for_timeout(2500)  # at rest, the saved picture follows
    page.page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    page.page.wait_for_function("!jupyterapp.shell.currentWidget.context.model.dirty")
    page.page.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    page.close()
    return twin


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
    assert page.digest(nth) == hashlib.sha256(twin.frame).digest()


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
def test_sliders_say_their_names_and_values_and_take_one_tab_stop(opened):
    """A screen reader says "slider, 14", or the keyboard stops at a number that does nothing."""
    opened.canvas()
    twin = transport_explorers.crossover()
    press(opened, "message n", "ArrowRight", 3)
    twin.controls["size"].index += 3
    opened.wait_for_readout(twin.readout)
    explorer = opened.page.locator(".fabriclab-explorer").first
    told = explorer.locator(".noUi-handle").evaluate_all(
        "all => all.map(handle => [handle.ariaLabel, handle.ariaValueText])"
    )
    wanted = [[control.description, control.label] for control in twin.controls.values()]
    assert told == wanted
    opened.slider("A: start-up α", 0).focus()
    stops = []
    for _ in twin.controls:
        stops.append(opened.page.evaluate("document.activeElement.ariaLabel"))
        opened.page.keyboard.press("Tab")
    assert stops == [name for name, _ in wanted]


@pytest.mark.parametrize("opened", ["bench.ipynb"], indirect=True)
def test_the_picture_itself_is_dragged(opened):
    """The message's dot does not follow the mouse, or picture, words and slider part company."""
    opened.canvas()
    twin = transport_explorers.crossover()
    wanted = twin.controls["size"].options[-20][1]
    (x, y), goal = twin._places()[1], twin.figure.axes[0].transData.transform((wanted, 1))
    box = opened.canvas(0).locator("canvas").bounding_box()
    across = box["x"] + goal[0] / twin.canvas.size[0] * box["width"]
    mouse = opened.page.mouse
    mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    assert opened.canvas(0).locator("canvas").evaluate("e => e.style.cursor") == "grab"
    mouse.down()
    mouse.move(across, box["y"] + y * box["height"], steps=12)
    mouse.up()
    twin.controls["size"].value = wanted
    assert_shows(opened, twin)
    readout = opened.page.locator(".widget-hslider", has_text="message n").first
    assert readout.locator(".widget-readout").inner_text() == twin.controls["size"].label


def test_the_next_day_the_last_picture_is_there_and_wakes(chromium, address, saved):
    """A notebook that was run, saved and opened again says "model not found" where its explorers
    were, shows the picture of the start, or needs more than a click to live again.
    """
    page = lab.Page(chromium, address, "next-day.ipynb")
    try:
        still = page.page.locator(".fabriclab-still").first
        still.wait_for()
        page.page.wait_for_function("document.body.textContent.includes('model not found')")
        assert not page.page.get_by_text("model not found").first.is_visible()
        assert saved.readout in still.inner_text() and saved.controls["size"].label in (
            still.inner_text()
        )
        image = still.locator("img")
        assert image.get_attribute("alt") == saved.alt
        assert image.evaluate("e => e.naturalWidth") == 2 * saved.canvas.size[0]
        assert still.locator("input").first.is_disabled()
        still.locator("button").click()
        assert_shows(page, transport_explorers.crossover())
        assert not still.is_visible()
    finally:
        page.close()


@pytest.mark.parametrize("opened", ["bench.ipynb"], indirect=True)
def test_a_restarted_kernel_is_said_in_place(opened):
    """The kernel was restarted under an open explorer: the slider moves, the picture stays, and
    nothing says why.
    """
    opened.canvas()
    said = opened.canvas(0).locator(".fabriclab-asleep")
    assert not said.is_visible()
    opened.page.evaluate("jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    said.wait_for(state="visible")
    assert "run this cell again" in said.inner_text()
    opened.complaints.clear()  # of what was under way when its kernel went


def test_a_notebook_that_is_only_looked_at_stays_as_it_is(chromium, address, folder):
    """Opening a notebook and closing it changes the file, so that the next `git pull` stops."""
    path = folder / "notebooks" / "12-fallacies.ipynb"
    before = path.read_bytes()
    page = lab.Page(chromium, address, "notebooks/12-fallacies.ipynb")
    try:
        page.page.wait_for_timeout(1000)
        page.page.evaluate("jupyterapp.commands.execute('docmanager:save')")
        page.page.wait_for_timeout(1000)
        untouched = path.read_bytes() == before
        assert untouched
    finally:
        page.close()


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
