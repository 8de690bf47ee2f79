"""One scene in a browser: it plays, steps and scrubs, without a kernel, and keeps its keys."""

import os

import lab
import pytest

from fabriclab import doctor
from fabriclab.course.engine.scene import PALETTE
from fabriclab.course.transport import scenes

ROOT = "document.querySelectorAll('.fabriclab-scene')"
# what stands in for a notebook: it counts the keys that its shortcuts would get, and, as
# JupyterLab does, leaves alone what is typed into an element that asks for it
PAGE = """<!doctype html><meta charset="utf-8"><body style="color:{ink};background:{paper}">
<script>window.taken = []; document.addEventListener("keydown", (e) => {{
if (!e.target.closest("[data-lm-suppress-shortcuts='true']:focus")) taken.push(e.key) }}, true);
window.bubbled = []; document.addEventListener("keydown", (e) => bubbled.push(e.key));</script>
{scenes}"""


@pytest.fixture(scope="module")
def chromium():
    if doctor.chromium() is None:
        missing = "no Chromium here: install it, or name it in the variable CHROMIUM"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    with lab.browser() as running:
        yield running


@pytest.fixture(scope="module")
def shown():
    return scenes.recovery()


@pytest.fixture
def page(chromium, shown, tmp_path):
    """A file, no server and no kernel, with two scenes in it."""
    file = tmp_path / "page.html"
    both = shown.html() + scenes.ring().html()
    file.write_text(PAGE.format(ink="#000", paper="#fff", scenes=both), encoding="utf-8")
    page = chromium.new_page(viewport={"width": 760, "height": 900})
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_function(f"{ROOT}[1].scene")
    yield page
    assert not page.faults
    page.close()


def at(page, nth=0):
    return float(page.evaluate(f"{ROOT}[{nth}].dataset.at"))


def colour(page, x, y, nth=0):
    """The colour of a point of the picture, in the scene's own pixels."""
    return tuple(
        page.evaluate(
            f"""([x, y]) => {{ const c = {ROOT}[{nth}].querySelector("canvas"), r = c.width / 700;
            return [...c.getContext("2d").getImageData(x * r, y * r, 1, 1).data].slice(0, 3) }}""",
            [x, y],
        )
    )


def test_it_plays_and_leaves_its_neighbour_alone(page, shown):
    """Play does not move, does not stop when told, or moves the other scene of the page."""
    page.get_by_label("speed").first.select_option("4")
    play = page.get_by_role("button", name="play").first
    play.click()
    page.wait_for_function(f"Number({ROOT}[0].dataset.at) > 0.3")
    page.get_by_role("button", name="pause").first.click()
    stood = at(page)
    page.wait_for_timeout(150)
    assert at(page) == stood and at(page, 1) == 0
    assert page.locator(".fabriclab-scene [role=status]").first.inner_text() == shown.caption(
        stood * 1e-6
    )


def test_keys_step_and_scrub_and_reach_no_shortcut(page, shown):
    """A key does not go where it should, or a letter in the player reaches the notebook."""
    page.get_by_label("time").first.focus()
    page.keyboard.press("ArrowRight")
    assert at(page) == pytest.approx(shown.axis[1] * 1e6, rel=1e-4)
    page.keyboard.press("ArrowUp")
    assert at(page) == pytest.approx(shown.stops[1][0] * 1e6, rel=1e-3)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    assert at(page) == pytest.approx(shown.stops[1][0] * 1e6, rel=1e-3)
    page.keyboard.press("End")
    assert at(page) == pytest.approx(shown.axis[-1] * 1e6, rel=1e-4)
    last = page.locator(".fabriclab-scene [role=status]").first.inner_text()
    assert last == shown.stops[-1][1]
    page.keyboard.press("Home")
    assert at(page) == 0
    for control in page.locator(".fabriclab-scene button, .fabriclab-scene input").all()[:4]:
        control.focus()
        for key in ("a", "b", "d", "d", "x", "Enter", "ArrowDown"):
            page.keyboard.press(key)
    assert page.evaluate("taken") == [] and page.evaluate("bubbled") == []


def test_the_picture_is_the_runs(page, shown):
    """The canvas shows other colours than the scene has at that moment."""
    notice = shown.stops[3][0]
    page.evaluate(f"{ROOT}[0].scene.seek({ROOT}[0].scene.stops[3] + 1e-6)")
    cells = shown.values("cells 1", "fill", notice)
    x, y = shown.values("cells 1", "x", notice), shown.values("cells 1", "y", notice)
    rgb = {name: tuple(bytes.fromhex(light[1:])) for name, (light, _) in PALETTE.items()}
    for i in (0, 5, 6, 20):
        assert colour(page, float(x[i]) + 3, float(y[i]) + 3) == rgb[str(cells[i])], i


def test_a_sharp_screen_a_dark_page_and_no_motion(chromium, shown, tmp_path):
    """Soft on a 2x screen, a white slab in the dark, or motion for those who asked for none."""
    file = tmp_path / "dark.html"
    file.write_text(PAGE.format(ink="#eee", paper="#111", scenes=shown.html()), encoding="utf-8")
    context = chromium.new_context(device_scale_factor=2, reduced_motion="reduce")
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_function(f"{ROOT}[0].scene")
    assert page.evaluate(f"{ROOT}[0].querySelector('canvas').width") == 1400
    assert sum(colour(page, 690, 410)) < 150
    page.get_by_label("speed").select_option("4")
    page.get_by_role("button", name="play").click()
    seen = set()
    for _ in range(14):
        page.wait_for_timeout(150)
        seen.add(round(at(page), 2))
    moments = {round(when * 1e6, 2) for when, _ in shown.stops}
    assert len(seen) >= 2 and seen <= moments  # it stands at moments, and nowhere between
    context.close()


def test_without_scripts_the_still_and_all_words_are_there(chromium, shown, tmp_path):
    """A page that runs no script shows nothing."""
    file = tmp_path / "still.html"
    file.write_text(PAGE.format(ink="#000", paper="#fff", scenes=shown.html()), encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    image = page.locator("img")
    assert image.get_attribute("alt") == shown.alt and image.bounding_box()["height"] > 300
    words = page.locator("body").text_content()
    assert all(told in words for _, told in shown.stops)
    context.close()
