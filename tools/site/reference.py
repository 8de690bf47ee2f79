"""The pages that no notebook is: the ledger, and the reference of models and logs."""

import ast
import html
import re
from pathlib import Path

import fabriclab
from fabriclab.course import PARTS
from fabriclab.course.engine import ledger
from tools.site.text import docstring

PACKAGE = Path(fabriclab.__file__).resolve().parent
COLUMNS = ("Where", "The text prints", "Recomputed", "Verdict", "Note")
# as in `tools.docs`: what a program may call
APART = {"course", "classroom", "doctor", "extras", "find", "progress"}


def ledger_page():
    """Every row of the ledger, part by part, under a filter by verdict and words."""
    parts = "".join(
        f'<section id="{part}"><h2>{part.capitalize()}</h2>{_rows(ledger.part(part))}</section>'
        for part in PARTS
    )
    verdicts = "".join(f"<option>{verdict}</option>" for verdict in ledger.VERDICTS)
    return (
        '<section id="ledger"><h1>The ledger: every printed number, recomputed</h1>'
        "<p>A row for each number that the two texts print, in the order of the chapter. "
        'The errata by severity: <a href="../notebooks/13-errata.html">13 · Errata</a>.</p>'
        '<form class="filter" hidden><label>Verdict <select><option value="">all</option>'
        f'<option value="errata">errata: differs or conflicts</option>{verdicts}</select></label>'
        '<label>Words <input type="search" autocomplete="off"></label>'
        '<span role="status"></span></form>'
        f"<pre>{html.escape(ledger.report())}</pre></section>{parts}"
    )


def _rows(rows):
    """A table of the ledger's rows; each can be linked to by its id."""
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    body = ""
    for row in rows:
        says = f"{row.says} / {row.other}" if row.other else row.says
        cells = (row.where, says, row.recomputed(), row.verdict, row.note)
        told = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        body += f'<tr id="{html.escape(row.id)}" class="{row.verdict}">{told}</tr>'
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def reference():
    """(name, body) of one page for each public module at the top of fabriclab, from its source."""
    for top in sorted(PACKAGE.iterdir()):
        if top.stem.startswith("_") or top.stem in APART:
            continue
        if top.suffix == ".py":
            yield f"fabriclab.{top.stem}", _module(top, 1)
        elif (top / "__init__.py").exists():
            paths = sorted(top.rglob("*.py"), key=lambda p: (p.name != "__init__.py", str(p)))
            first = top / "__init__.py"
            body = "".join(_module(path, 1 if path == first else 2) for path in paths)
            yield f"fabriclab.{top.stem}", body


def _module(path, level):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = ".".join(("fabriclab", *path.relative_to(PACKAGE).with_suffix("").parts))
    name = name.removesuffix(".__init__")
    entries = "".join(_entry(node, name) for node in tree.body if _public(node))
    head = f"<h{level}>{name}</h{level}>{docstring(ast.get_docstring(tree))}"
    # a module and a function may share a dotted name: nccl.signs
    return f'<section id="module-{name}">{head}{entries}</section>'


def _public(node):
    kinds = (ast.FunctionDef, ast.ClassDef)
    return isinstance(node, kinds) and node.name[0] != "_" and bool(ast.get_docstring(node))


def _entry(node, module, owner=""):
    """A public function, or a class with its public methods, and what its docstring says."""
    name = f"{owner}{node.name}"
    words = docstring(ast.get_docstring(node))
    if isinstance(node, ast.ClassDef):
        methods = "".join(
            f'<div class="method">{_entry(each, module, name + ".")}</div>'
            for each in node.body
            if isinstance(each, ast.FunctionDef) and _public(each)
        )
        return f'<h3 id="{module}.{name}">class <code>{name}</code></h3>{words}{methods}'
    call = re.sub(r"\s+", " ", f"{name}({ast.unparse(node.args)})")
    tag = "p" if owner else "h3"
    head = f'<code class="signature">{html.escape(call)}</code>'
    return f'<{tag} id="{module}.{name}">{head}</{tag}>{words}'
