"""`fabriclab find WORDS`: which function, section, exercise, row or term answers a question.

Every public function of the models and of the readers of logs, every notebook section, exercise,
ledger row and glossary entry is one text; the texts are ranked by BM25 (Robertson and Zaragoza,
"The Probabilistic Relevance Framework", 2009), a word in a name counting more than one in its text.
Functions are read from the source and not imported, so this needs no extra.
"""

import ast
import json
import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import fabriclab

PACKAGE = Path(fabriclab.__file__).parent
KINDS = ("function", "section", "exercise", "row", "term")
WEIGHTS = 4, 3, 1  # a word in the name, in the first sentence, anywhere in the text
K1, B = 1.2, 0.6  # BM25's saturation of repeated words, and its discount for long texts
COMMON = set(
    "a an and are as at be between by can do does each for from get give has have how i if in is it"
    " its many me much my need of on one or should so take than that the their there they this to"
    " two use what when where which why will with would you long often big fast".split()
)


@dataclass(frozen=True)
class Entry:
    """One thing that can be found: its kind, where it stands, its first sentence, all its text."""

    kind: str
    name: str
    says: str
    text: str


def words(text: str) -> list[str]:
    """The words of a text as they are compared: lower case, without endings; Chinese by pairs.
    AllGather is a word and two: a function may write it all_gather.

    >>> words("link_margin of Cables, 对分带宽")
    ['link', 'margin', 'cabl', '对分', '分带', '带宽']
    """
    found = []
    text = re.sub(r"([A-Za-z]+[a-z])([A-Z][A-Za-z]+)", r"\1\2 \1 \2", text)
    for word in re.findall(r"[a-z]+\d*|\d+[a-z]*|[\u4e00-\u9fff]+", text.lower()):
        if word[0] >= "\u4e00":
            found += [word[i : i + 2] for i in range(max(len(word) - 1, 1))]
        elif word not in COMMON:
            found.append(_stem(word))
    return found


def _stem(word):
    """`word` without the endings that English adds to one root; crude, and the same on both sides.

    >>> [_stem(w) for w in ("queues", "queueing", "latencies", "collide", "collision", "loss")]
    ['queu', 'queu', 'latenc', 'collid', 'colli', 'loss']
    """
    while not word.endswith("ss"):
        for ending in ("ation", "ing", "ion", "ie", "ed", "s", "e", "y"):
            if word.endswith(ending) and len(word) - len(ending) >= 4:
                word = word[: -len(ending)]
                break
        else:
            break
    return word


def functions() -> Iterator:
    """Every public function and class of the models and of the readers of logs."""
    for room in sorted(set(dir(fabriclab)) - {"course", "classroom", "require"}):
        for name, node in _public(PACKAGE / f"{room}.py", PACKAGE / room):
            text = ast.get_docstring(node) or ""
            if text:
                others = re.search(r"Other words: (.*?)\n\n", text + "\n\n", re.DOTALL)
                text += f" {others[1]} {others[1]}" if others else ""  # said in order to be found
                yield Entry("function", f"{room}.{name}", _first_sentence(text), text)


def _public(module, folder):
    """(name, definition) of what a module, or a folder by its face, offers."""
    faces = [folder / "__init__.py"] if folder.is_dir() else [module]
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [module]
    shown = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(faces[0].read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for file in files:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            named = isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"
            if named and (file in faces or node.name in shown):
                yield node.name, node


def _first_sentence(text):
    return re.split(r"(?<=[.])\s", " ".join(text.split()), maxsplit=1)[0]


def sections(folder):
    """The headings of the notebooks in `folder`, each with the prose under it; and the glossary."""
    for path in sorted(folder.glob("*.ipynb")) if folder else ():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        prose = "\n".join(
            "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
        )
        for part in re.split(r"^(?=#{1,3} )", prose, flags=re.MULTILINE)[1:]:
            head, _, body = part.partition("\n")
            yield Entry("section", f"{path.stem}: {head.strip('# ')}", "", body)
        if path.name.startswith("00"):
            for english, chinese, says in re.findall(
                r"^\| ([^|]+) \| ([^|]*[\u4e00-\u9fff][^|]*) \| ([^|]+) \|", prose, re.MULTILINE
            ):
                yield Entry("term", f"{english.strip()} {chinese.strip()}", says.strip(), says)


def exercises():
    """Every exercise of the bank, by its id, title and hints."""
    from fabriclab.course.engine.exercises import bank

    for name in bank.ids():
        one = bank.find(name)
        text = " ".join([one.chinese, *(hint for hint in one.hints if isinstance(hint, str))])
        yield Entry("exercise", name, one.title, text)


def rows():
    """Every row of the ledger."""
    from fabriclab.course.engine import ledger

    for row in ledger.rows():
        yield Entry("row", row.id, f"{row.where}: {row.says}", row.note)


def index(folder=None):
    """All entries; `folder` holds the notebooks, where they are at hand."""
    return [*functions(), *sections(folder), *exercises(), *rows()]


def find(question: str, entries: list[Entry], most: int = 5) -> dict[str, list]:
    """The `most` entries of each kind that answer a question best, best first: {kind: entries}.

    Raises ValueError for a question without a word to look for.

    >>> best = find("how long does a ring AllReduce take", list(functions()))["function"]
    >>> "collectives.ring_allreduce" in [entry.name for entry in best[:3]]
    True
    """
    asked = list(dict.fromkeys(words(question)))
    if not asked:
        raise ValueError(f"{question!r} holds no word to look for")
    counted = [_counts(entry) for entry in entries]
    holding = Counter(word for counts in counted for word in counts)
    usual = sum(sum(c.values()) for c in counted) / max(len(counted), 1)
    scored = []
    for entry, counts in zip(entries, counted):
        length = 1 - B + B * sum(counts.values()) / usual
        score = sum(
            math.log(1 + (len(entries) - holding[word] + 0.5) / (holding[word] + 0.5))
            * counts[word]
            * (K1 + 1)
            / (counts[word] + K1 * length)
            for word in asked
            if word in counts
        )
        if score > 0:
            scored.append((score * _nearness(entry, asked), entry))
    scored.sort(key=lambda pair: -pair[0])
    return {kind: [e for _, e in scored if e.kind == kind][:most] for kind in KINDS}


def _nearness(entry, asked):
    """What a score counts: more where the question holds the whole name, less for a record, which
    is looked for less often than the function that returns it.
    """
    name = entry.name.rpartition(".")[2]
    if name[:1].isupper():
        return 0.7
    return 1.5 if set(words(name.replace("_", " "))) <= set(asked) else 1.0


def _counts(entry):
    counts = Counter()
    for weight, text in zip(WEIGHTS, (entry.name, entry.says, entry.text)):
        for word in words(text.replace("_", " ")):
            counts[word] += weight
    return counts


def report(question, folder=None):
    """What answers a question, kind by kind, as text; None where nothing holds any of its words."""
    found = find(question, index(folder))
    lines = []
    for kind, entries in found.items():
        if entries:
            lines += [f"{kind}s" if kind != "term" else "glossary"]
            lines += [f"  {entry.name}{_tail(entry.says)}" for entry in entries]
    return "\n".join(lines) or None


def _tail(says):
    return f"  {textwrap.shorten(says, 90, placeholder=' …')}" if says else ""
