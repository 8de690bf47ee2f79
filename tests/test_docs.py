"""The reference that `make docs` builds from the docstrings."""

import re

import pytest

pytest.importorskip("pdoc")

from tools import docs  # noqa: E402


def test_pages_are_built_and_load_nothing_from_elsewhere(tmp_path):
    """A page that fetches a style or a script would be broken in a room without a network."""
    docs.build(tmp_path, ["fabriclab.transport", "fabriclab.logs.sign"])
    pages = [*tmp_path.rglob("*.html")]
    assert {"transport.html", "sign.html", "index.html"} <= {page.name for page in pages}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loads = re.findall(r"""<(?:script|img|iframe)[^>]*\ssrc=["']?(?:https?:)?//[^>]*>""", text)
        loads += re.findall(r"""<link[^>]*href=["']?(?:https?:)?//[^>]*>""", text)
        loads += re.findall(r"""(?:@import|url\()\s*["']?(?:https?:)?//[^)\s]*""", text)
        assert loads == [], page.name
    transport = (tmp_path / "fabriclab" / "transport.html").read_text(encoding="utf-8")
    assert "crossover" in transport
