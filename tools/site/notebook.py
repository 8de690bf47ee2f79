"""A notebook as the body of a page: what the template needs to know about each cell and output."""

import base64
import hashlib
import html
import re
import struct

from fabriclab.course.engine import exercises
from fabriclab.course.engine.exercises import bank, example
from fabriclab.course.engine.exercises.student import prices
from tools.site import frames
from tools.site.text import markdown

LONGEST_SHOWN = 9  # lines of code; longer ones are folded
ASK = re.compile(r'(\w+) = me\.ask\("([\w.]+)"\)')
EMPTY_ANSWER = re.compile(r"answer = \.\.\.\n(#.*\n)*\w+\.check\(answer\)\s*")
EMBEDDED = re.compile(r"""(<img\b[^>]*?\bsrc=)(["'])data:image/png;base64,([^"']+)\2""")


def prepare(notebook, folder, name, out):
    """Write into each cell's `metadata.site` what the template shows; the explorers it calls."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    scope = frames.imports(code) if folder == "notebooks" else {}
    calls = []
    for number, cell in enumerate(notebook.cells):
        site = {"id": cell.get("id", f"cell-{number}")}
        if cell.cell_type == "code":
            site |= _folding(cell, folder)
            if folder == "exercises":
                site |= _exercise(cell)
            call = frames.find(cell, scope)
            if call:
                calls.append(call)
                site["explorer"] = call.slug
            for output in cell.get("outputs", []):
                _pictures(output, out, f"{folder}/{name}, cell {site['id']}")
            _one_picture(cell, call)
        cell.metadata["site"] = site
    return calls


def _folding(cell, folder):
    hidden = cell.metadata.get("jupyter", {}).get("source_hidden")
    skipped = cell.metadata.get("slideshow", {}).get("slide_type") == "skip"
    folded = hidden or skipped or folder == "exercises" or cell.source.count("\n") >= LONGEST_SHOWN
    drawn = any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))
    word = "code of the picture" if hidden and drawn else "code"
    # what answers a prediction waits, as it does in the notebook
    waits = cell.metadata.get("jupyter", {}).get("outputs_hidden", False)
    return {"folded": bool(folded), "word": word, "waits": waits}


def _exercise(cell):
    """An asking cell as its question with hints; an answer cell without a stub of its own goes."""
    asked = ASK.search(cell.source)
    if not asked:
        return {"skip": bool(EMPTY_ANSWER.fullmatch(cell.source))}
    name, exercise_id = asked.groups()
    question = exercises.student.Question(exercises.Student("demo"), exercise_id)
    numbers = bank.numbers("demo", exercise_id)
    title, _, text = question.markdown.partition("\n\n")
    title = re.sub("</?p>", "", markdown(title.replace("**", "")))
    hints = "".join(
        f"<details><summary>Hint {number}</summary>{markdown(prices(hint))}</details>"
        for number, hint in enumerate(example.rungs(question.exercise, numbers), 1)
    )
    head = f'<h3 id="{name}"><span class="number">{name}</span> {title}</h3>'
    return {"html": f'{head}{markdown(text)}<div class="hints">{hints}</div>'}


def _pictures(output, out, where):
    """Pictures of an output become files, loaded when they come near; each must have its words."""
    data = output.get("data", {})
    if "text/html" in data:
        data["text/html"] = EMBEDDED.sub(
            lambda found: f'{found[1]}"{_file(found[3], out)["src"]}" loading="lazy"',
            data["text/html"].replace(".ipynb#cell-id=", ".html#"),
        )
    elif "image/png" in data:
        alt = output.metadata.get("image/png", {}).get("alt")
        if not alt:
            raise ValueError(f"{where}: a picture without words")
        output.metadata["picture"] = _file(data["image/png"], out) | {"alt": html.escape(alt)}


def _file(data, out):
    """Write a picture beside the pages, once: its address from a page, its width and height."""
    raw = base64.b64decode(data)
    name = hashlib.sha256(raw).hexdigest()[:16] + ".png"
    (out / "pictures").mkdir(parents=True, exist_ok=True)
    (out / "pictures" / name).write_bytes(raw)
    width, height = struct.unpack(">II", raw[16:24])
    return {"src": f"../pictures/{name}", "width": width, "height": height}


def _one_picture(cell, call):
    """Of an explorer's outputs the saved picture stays; a live widget is no use here."""
    if call:
        rich = [o for o in cell.outputs if {"image/png", "text/html"} & set(o.get("data", {}))]
        cell.outputs = rich[:1]
