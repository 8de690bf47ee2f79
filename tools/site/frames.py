"""An explorer's frames drawn ahead, so that it lives on in a page without a kernel.

One script per control holds, for every stop, the words and the pixels that differ from the first
frame. Scripts and not data files, since a page opened from a folder may load scripts but not fetch.
"""

import ast
import base64
import hashlib
import io
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

import fabriclab

PACKAGE = Path(fabriclab.__file__).resolve().parent


@dataclass(frozen=True)
class Call:
    """The opening of an explorer as a notebook writes it; `scope` is what the notebook imports."""

    module: str
    name: str
    words: str
    scope: dict = field(compare=False, repr=False)

    @property
    def slug(self):
        """A folder's name; a call with arguments gets a few digits of its own."""
        part = self.module.removeprefix("fabriclab.course.").split(".")[0]
        arguments = self.words.split("(", 1)[1].removesuffix(")")
        digest = hashlib.sha256(arguments.encode()).hexdigest()[:6]
        return f"{part}-{self.name}" + (f"-{digest}" if arguments else "")

    def open(self):
        return eval(self.words, self.scope)  # the notebook's own words


def imports(cells):
    """What the import statements of code `cells` bring, by name."""
    scope = {}
    for cell in cells:
        for line in _parsed(cell):
            if isinstance(line, ast.Import | ast.ImportFrom):
                exec(ast.unparse(line), scope)
    return scope


def find(cell, scope):
    """The `Call` of an explorer that a code cell ends on, or None."""
    lines = _parsed(cell)
    call = lines[-1].value if lines and isinstance(lines[-1], ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return None
    module = getattr(scope.get(ast.unparse(call.func.value)), "__name__", "")
    if not (module.startswith("fabriclab.course.") and module.endswith("explorers")):
        return None
    return Call(module, call.func.attr, ast.unparse(call), scope)


def _parsed(cell):
    try:
        return ast.parse(cell.source).body
    except SyntaxError:  # a cell with a magic holds no explorer
        return []


def sources_key():
    """A key that changes with the package, and with how frames are made."""
    paths = [Path(__file__), *sorted(PACKAGE.rglob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def write(call, folder, key):
    """Write `folder`/SLUG/*.js for a `Call`, unless those there carry `key` already.

    True where something was written.
    """
    target = folder / call.slug
    head = target / "all.js"
    if head.exists() and key in head.read_text(encoding="utf-8"):
        return False
    target.mkdir(parents=True, exist_ok=True)
    explorer = call.open()
    base, controls = _pixels(explorer).copy(), []
    for number, (name, control) in enumerate(explorer.controls.items()):
        trait, labels, at = _stops(control)
        frames = _frames(explorer, control, trait, len(labels), base)
        _script(target / f"{number}.js", "SITE_FRAMES", call.slug, number, frames)
        controls.append([control.description or name, _kind(control), labels, at])
    height, width = base.shape[:2]
    about = {"key": key, "width": width, "height": height, "alt": explorer.alt}
    about |= {"readout": explorer.readout, "base": _webp(base), "controls": controls}
    _script(head, "SITE_EXPLORER", call.slug, about)  # last: a build cut short is seen to be so
    return True


def _pixels(explorer):
    width, height = explorer.figure.canvas.get_width_height()
    return np.frombuffer(explorer.frame, np.uint8).reshape(height, width, 4)


def _stops(control):
    """(trait, labels, the one it stands at) of any control that explorers use."""
    if hasattr(control, "options"):
        return "index", list(control._options_labels), control.index
    return "value", ["off", "on"], int(control.value)


def _kind(control):
    if not hasattr(control, "options"):
        return "check"
    return "range" if type(control).__name__ == "SelectionSlider" else "choice"


def _frames(explorer, control, trait, count, base):
    """[readout, failed, patch] for every stop of one control; it goes back afterwards."""
    first, frames = getattr(control, trait), []
    for stop in range(count):
        setattr(control, trait, stop if trait == "index" else bool(stop))
        failed = bool(explorer.error)
        frames.append(
            [explorer.readout, failed, None if failed else patch(_pixels(explorer), base)]
        )
    setattr(control, trait, first)
    return frames


def patch(frame, base):
    """[left, top, WebP in base64] of what differs from `base`, all else transparent.

    None where nothing differs.
    """
    differs = (frame != base).any(axis=2)
    if not differs.any():
        return None
    rows = np.flatnonzero(differs.any(axis=1))
    columns = np.flatnonzero(differs.any(axis=0))
    window = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    cut = frame[window].copy()
    cut[~differs[window]] = 0
    return [int(columns[0]), int(rows[0]), _webp(cut)]


def _webp(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "WEBP", lossless=True, method=4, quality=60)
    return base64.b64encode(buffer.getvalue()).decode()


def _script(path, function, *arguments):
    words = ",".join(
        json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in arguments
    )
    path.write_text(f"{function}({words})", encoding="utf-8")
