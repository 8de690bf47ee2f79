"""Questions on paper: a sheet for one student, and exams in many copies with a key apart. Pages are
HTML that prints well, and PDF where a Chromium is found.
"""

import html
import re
import shutil
import subprocess
from pathlib import Path

from fabriclab.course import NUMBERED
from fabriclab.course.engine.exercises import bank, levels, reader
from fabriclab.course.engine.exercises.core import Draw, identify
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.function import Function
from fabriclab.course.engine.exercises.kinds import Choice, Free, Ordering, Quantity
from fabriclab.course.engine.exercises.tasks import Estimate, Explain
from fabriclab.units import plural

_STYLE = """
@page { size: A4; margin: 18mm }
body { font: 11pt/1.45 Georgia, "Noto Serif CJK SC", serif; max-width: 46em; margin: auto }
h1 { font-size: 15pt } h2 { font-size: 11.5pt; margin: 1.2em 0 .2em }
section { break-inside: avoid } pre { font-size: 9pt; background: #f4f4f4; padding: .5em }
table { border-collapse: collapse } td, th { border: 1px solid #999; padding: .1em .6em }
.about { color: #555; font-size: 9pt } .room { border-bottom: 1px solid #aaa; height: 2.2em }
.copy { break-before: page }
"""
_POINTS = {"warm-up": 1, "standard": 2, "hard": 3}
_ROOM = {Quantity: 4, Choice: 1, Ordering: 1, Formula: 5, Function: 8, Free: 10}


def parts(text):
    """Names of parts from their numbers, "03", "1-5", "2,4", an instructor's own from their names:
    "1-3,campus". Raises ValueError.

    >>> parts("1-2,12")
    ['opening', 'wires', 'fallacies']
    """
    own = [name for name in bank.parts() if name not in NUMBERED.values()]
    pieces = text.split(",")
    mine = [piece for piece in pieces if piece in own]
    wanted = []
    for piece in (one for one in pieces if one not in mine):
        if not re.fullmatch(r"\d{1,2}(-\d{1,2})?", piece):
            names = f", or of your own: {', '.join(own)}" if own else ""
            raise ValueError(f"parts are numbers such as 3, 1-5 or 2,4{names}; not {text[:40]!r}")
        low, _, high = piece.partition("-")
        wanted += range(int(low), int(high or low) + 1)
    strange = [n for n in wanted if n not in NUMBERED]
    if strange or not wanted + mine:
        known = ", ".join(map(str, NUMBERED))
        raise ValueError(f"there are parts {known}; not {strange[0] if strange else text}")
    return [*(NUMBERED[n] for n in sorted(set(wanted))), *dict.fromkeys(mine)]


def _number(part):
    """The number of a part's notebook; None for an instructor's own."""
    return {name: n for n, name in NUMBERED.items()}.get(part)


def choose(names, minutes, seed):
    """Ids of exercises that fill `minutes`, drawn by `seed`: parts and levels in turn, so that each
    part comes as often as the others, no section twice before the rest of its part, and free texts
    last of all. From easy to hard.
    """
    draw = Draw(f"exam {seed}", "choose")
    left = {part: draw.shuffle(part, bank.ids(part)) for part in names}
    taken, free, used = [], minutes, []
    turn = 0
    while any(left.values()):
        part = names[turn % len(names)]
        level = levels.LEVELS[(1, 0, 2)[(turn // len(names) + turn) % 3]]
        turn += 1
        fits = [n for n in left[part] if levels.of(n) and levels.of(n).minutes <= free]
        left[part] = fits
        if not fits:
            continue
        best = min(
            fits,
            key=lambda n: (
                type(bank.find(n).kind) is Free,
                used.count(levels.of(n).section),
                levels.of(n).level != level,
            ),
        )
        left[part].remove(best)
        taken.append(best)
        used.append(levels.of(best).section)
        free -= levels.of(best).minutes
    return levels.in_order(taken)


def sheet(part, student):
    """One part's questions with this student's numbers, from easy to hard, as an HTML page."""
    names = levels.in_order(bank.ids(part))
    title = f"Part {_number(part) or part}: {student}"
    return page(title, [_copy(title, names, student, "")])


def exam(names, seed, copies):
    """(questions, key) as two HTML pages: `copies` copies, each with numbers of its own."""
    questions, keys = [], []
    total = sum(_points(name) for name in names)
    minutes = sum(levels.of(name).minutes for name in names)
    for number in range(1, copies + 1):
        student = f"exam {seed} copy {number}"
        title = f"Exam {seed}, copy {number} of {copies}"
        head = f"{minutes} minutes, {total} points. Name: ______________________________"
        questions.append(_copy(title, names, student, head))
        keys.append(_key(title, names, student))
    return page(f"Exam {seed}", questions), page(f"Exam {seed}: key", [_scheme(), *keys])


def _copy(title, names, student, head):
    out = [f'<div class="copy"><h1>{html.escape(title)}</h1><p>{html.escape(head)}</p>']
    for number, name in enumerate(names, start=1):
        exercise, x = bank.find(name), bank.numbers(student, name)
        room = '<div class="room"></div>' * _ROOM.get(type(exercise.kind), 4)
        out.append(
            f"<section><h2>{number}. {html.escape(exercise.title)}</h2>"
            f'<p class="about">{_worth(name)}; {html.escape(str(levels.of(name)))}</p>'
            f"{_html(exercise.prompt(x))}{_html(_asked(exercise.kind, x))}{room}</section>"
        )
    return "".join(out) + "</div>"


def _asked(kind, x):
    """What to write down, on paper."""
    if hasattr(kind, "on_paper"):
        return kind.on_paper(x)
    if type(kind) is Choice:
        options = kind.lettered(x).items()
        return "\n".join(f"- {letter}: {kind.wording(option, x)}" for letter, option in options)
    if type(kind) is Ordering:
        return f"Write {', '.join(sorted(kind.values(x)))} in order, {kind.least} first."
    if type(kind) is Quantity:
        unit = "" if kind.dimension == "number" else " with its unit"
        return f"Give {reader.BASE[kind.dimension][2]}{unit}, and how you come to it."
    if type(kind) is Formula:
        return f"Give a formula in {', '.join(kind.symbols)}, and how you come to it."
    return "Write it in Python." if type(kind) is Function else "Write a few sentences."


def _key(title, names, student):
    rows = "".join(
        f"<tr><td>{n}</td><td>{html.escape(name)}</td><td>{html.escape(answer(name, student))}</td>"
        f"<td>{_points(name)}</td></tr>"
        for n, name in enumerate(names, start=1)
    )
    return f'<div class="copy"><h1>{html.escape(title)}: key</h1><table>{rows}</table></div>'


def answer(name, student):
    """The right answer for the key, as text."""
    kind, x = bank.find(name).kind, bank.numbers(student, name)
    if type(kind) is Choice:
        letter, option = next((a, o) for a, o in kind.lettered(x).items() if o.right)
        return f"{letter}: {kind.wording(option, x)}"
    if type(kind) is Ordering:
        return ", ".join(sorted(kind.values(x), key=kind.values(x).get))
    if type(kind) is Quantity:
        key = kind.key(x)
        if kind.whole:
            return f"{round(key):,}"
        return f"{reader.show(key, kind.dimension)} (within {100 * kind.tolerance:g} %)"
    if type(kind) is Formula and kind.answer:
        return kind.answer
    if type(kind) is Explain:
        return "; ".join(kind.rubric)
    if type(kind) is Estimate:
        return f"{reader.show(kind.key(x), kind.unit)} lies in the range"
    if hasattr(kind, "on_paper"):
        return str(kind.solution(x))
    return "see the worked solution and its rubric"


def _scheme():
    return (
        "<h1>Marking scheme</h1><p>A warm-up has 1 point, a standard question 2, a hard one 3. Full"
        " points for a right result with its unit; half of them, rounded down to a half point, for"
        " a right way with one slip of arithmetic or unit; none for a bare wrong number. A choice"
        " or an order is right or wrong. Free texts and code: the rubric in solutions/.</p>"
    )


def _points(name):
    return _POINTS[levels.of(name).level]


def _worth(name):
    return plural(_points(name), "point")


def _html(text):
    """The little Markdown that prompts hold (code, tables, lists, emphasis) as HTML."""
    out = []
    for piece in re.split(r"(```.*?```)", text, flags=re.DOTALL):
        if piece.startswith("```"):
            out.append(f"<pre>{html.escape(piece.strip('`').strip(chr(10)))}</pre>")
            continue
        out += [_block(block) for block in re.split(r"\n\s*\n", piece) if block.strip()]
    return "".join(out)


def _block(block):
    lines = block.strip("\n").splitlines()
    if all(line.startswith("    ") for line in lines):
        return f"<pre>{html.escape(chr(10).join(line[4:] for line in lines))}</pre>"
    if all(line.lstrip().startswith("|") for line in lines):
        cells = [line.strip().strip("|").split("|") for line in lines if set(line) - set("|-: ")]
        rows = ("".join(f"<td>{_inline(cell.strip())}</td>" for cell in row) for row in cells)
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
    if all(line.startswith("- ") for line in lines):
        return f"<ul>{''.join(f'<li>{_inline(line[2:])}</li>' for line in lines)}</ul>"
    return f"<p>{_inline(' '.join(lines))}</p>"


def _inline(text):
    text = html.escape(text, quote=False)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\*([^*\s][^*]*)\*", r"<em>\1</em>", text)


def page(title, bodies):
    """A page that prints well, from pieces of HTML."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}'
        f"</title><style>{_STYLE}</style></head><body>{''.join(bodies)}</body></html>\n"
    )


def write(path, page):
    """Write a page as HTML, and beside it as PDF where a Chromium is found; the paths written."""
    path = Path(path)
    path.write_text(page, encoding="utf-8")
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    pdf = path.with_suffix(".pdf")
    if browser is None:
        return [path]
    words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    try:
        subprocess.run(
            [*words, f"--print-to-pdf={pdf.resolve()}", path.resolve().as_uri()],
            check=True,
            capture_output=True,
            timeout=120,
        )
    except (OSError, subprocess.SubprocessError):
        return [path]
    return [path, pdf]


def write_sheets(text, student):
    """Write a sheet for each part that `text` names; the paths written."""
    written, student = [], identify(student)
    for part in parts(text):
        number = f"{_number(part):02d}" if _number(part) else part
        written += write(f"sheet-{number}.html", sheet(part, student))
    return written


def write_exam(text, minutes, seed, copies, with_key):
    """Write an exam over the parts that `text` names, and its key apart; the paths written."""
    names = choose(parts(text), minutes, seed)
    if not names or not 1 <= copies <= 1000:
        raise ValueError("too few minutes for one question, or not 1 to 1000 copies")
    questions, key = exam(names, seed, copies)
    written = write(f"exam-{seed}.html", questions)
    return [*written, *(write(f"exam-{seed}-key.html", key) if with_key else ())]
