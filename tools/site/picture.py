"""The picture of the site in README: python -m tools.site.picture [FOLDER], after `make site`.

It needs Chromium, as the tests of the browser do.
"""

import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from fabriclab import doctor
from tools.site.build import OUT, ROOT

PICTURE = ROOT / "notebooks" / "site.png"
PLACE = "notebooks/10-scale-up.html"
SIZE = {"width": 1280, "height": 800}


def take(folder=OUT, picture=PICTURE):
    """Write a screenshot of a chapter with a live explorer, small enough for a repository."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=doctor.chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE)
        page.goto((Path(folder).resolve() / PLACE).as_uri())
        figure = page.locator("figure.explorer").first
        figure.scroll_into_view_if_needed()
        page.wait_for_selector("figure[data-ready]")
        figure.evaluate("figure => figure.scrollIntoView({ block: 'center' })")
        figure.locator("input[type=range]").first.press("ArrowRight")
        page.wait_for_selector("figure[data-shown]")
        page.screenshot(path=picture)
        browser.close()
    Image.open(picture).convert("RGB").quantize(64).save(picture, optimize=True)


if __name__ == "__main__":
    take(*sys.argv[1:2])
