"""Guards over every committed notebook: nbval compares outputs, and these see what it passes over.

A guard is a function of a notebook that returns complaints, so that each can also be shown a
notebook that is wrong.
"""

import ast
import copy
import importlib.util
import re
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

import fabriclab

ROOT = Path(__file__).resolve().parent.parent
VERSION = fabriclab.__version__.rsplit(".", 1)[0]
LONGEST_FUNCTION = 6
SOLUTION_MARKS = (
    "BEGIN SOLUTION",
    "END SOLUTION",
    "BEGIN HIDDEN",
    "END HIDDEN",
    "BEGIN MARK",
    "END MARK",
)

_spec = importlib.util.spec_from_file_location("rerun", ROOT / "tools" / "rerun.py")
rerun = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(rerun)


def notebooks(*folders):
    return [path for folder in folders for path in sorted((ROOT / folder).glob("*.ipynb"))]


def name(path):
    return str(path.relative_to(ROOT))


def code_cells(notebook):
    return [
        cell for cell in notebook["cells"] if cell["cell_type"] == "code" and cell["source"].strip()
    ]


def prose(cell):
    """A markdown cell's text without its code."""
    return re.sub(
        r"`[^`\n]*`", "", re.sub(r"^(```|~~~).*?^\1", "", cell["source"], flags=re.M | re.S)
    )


def parsed(cell):
    return ast.parse(TransformerManager().transform_cell(cell["source"]))


def shown_texts(cell):
    """Every text that a cell's outputs show a reader."""
    for output in cell["outputs"]:
        yield from (output[key] for key in ("text", "evalue") if key in output)
        yield from (
            text
            for kind, text in output.get("data", {}).items()
            if kind.startswith(("text/", "image/svg"))
        )


# ---- the guards


def is_valid(notebook):
    """JupyterLab repairs an invalid notebook with a dialogue box, and nbgrader refuses it."""
    if (notebook["nbformat"], notebook["nbformat_minor"]) < (4, 5):
        return ["older than format 4.5, so its cells have no ids"]
    try:
        nbformat.validate(copy.deepcopy(notebook))
    except nbformat.ValidationError as fault:
        return [f"not a valid notebook: {str(fault).splitlines()[0]}"]
    return []


def has_unique_ids(notebook):
    """Two cells of one id, or none, and tools that compare or grade cell by cell take one for the
    other.
    """
    ids = [cell.get("id") for cell in notebook["cells"]]
    return [f"cell {n} has no id" for n, one in enumerate(ids) if not one] + [
        f"cell {n} has the id {one} of an earlier cell"
        for n, one in enumerate(ids)
        if one and one in ids[:n]
    ]


def was_run(notebook):
    """nbval compares nothing in a cell without an execution count: a wrong number would pass."""
    return [
        f"cell {cell['id']} has execution count {cell['execution_count']}, not {n}: run `make"
        " notebooks`"
        for n, cell in enumerate(code_cells(notebook), 1)
        if cell["execution_count"] != n
    ]


def has_no_errors(notebook):
    """A committed traceback teaches nothing but fear."""
    return [
        f"cell {cell['id']} ended in {output['ename']}"
        for cell in code_cells(notebook)
        for output in cell["outputs"]
        if output["output_type"] == "error"
    ]


def has_no_stderr(notebook):
    """Warnings differ from machine to machine, and a reader cannot tell them from failures."""
    return [
        f"cell {cell['id']} writes to stderr: {output['text'][:60]!r}"
        for cell in code_cells(notebook)
        for output in cell["outputs"]
        if output.get("name") == "stderr"
    ]


def shows_no_addresses(notebook):
    """The address in a default repr is new in every run."""
    return [
        f"cell {cell['id']} shows an address, {found[0]}"
        for cell in code_cells(notebook)
        for text in shown_texts(cell)
        for found in [re.search(r"\b0x[0-9a-f]{6,}\b", text)]
        if found
    ]


def names_no_absolute_paths(notebook):
    """A path of the author's machine exists on no reader's."""
    path = re.compile(
        r"(?<![\w./:<~-])/(home|root|Users|tmp|work|opt|usr|var|mnt|private)/\w|\b[A-Z]:\\\w"
    )
    found = [
        (cell, text)
        for cell in notebook["cells"]
        for text in (cell["source"], *(shown_texts(cell) if cell["cell_type"] == "code" else ()))
    ]
    return [
        f"cell {cell['id']} names an absolute path, {match[0]}…"
        for cell, text in found
        for match in [path.search(text)]
        if match
    ]


def _prints(node):
    """Whether a top-level statement of a cell surely shows something: it is an expression, or a
    loop or block that prints.
    """
    if isinstance(node, ast.Expr):
        return not (isinstance(node.value, ast.Constant) and node.value.value in (None, ...))
    if isinstance(node, (ast.For, ast.With)):
        return any(
            isinstance(inner, ast.Call)
            and isinstance(inner.func, ast.Name)
            and inner.func.id in ("print", "display")
            for statement in node.body
            if isinstance(statement, ast.Expr)
            for inner in ast.walk(statement)
        )
    return False


def shows_what_it_should(notebook):
    """A cell that ends in an expression and has no output was not run as it stands, and its number
    is not compared.
    """
    complaints = []
    for cell in code_cells(notebook):
        body = parsed(cell).body
        if (
            body
            and _prints(body[-1])
            and not cell["source"].rstrip().endswith(";")
            and not cell["outputs"]
        ):
            complaints.append(
                f"cell {cell['id']} ends in something to show and shows nothing (write `_ = …` if"
                " that is meant)"
            )
    return complaints


def asks_for_its_version(notebook):
    """Without it, a notebook of another version fails somewhere in its middle."""
    first = code_cells(notebook)[:1]
    calls = [
        ast.unparse(node)
        for cell in first
        for node in ast.walk(parsed(cell))
        if isinstance(node, ast.Call)
    ]
    return (
        []
        if f"fabriclab.require('{VERSION}')" in calls
        else [f'its first code cell does not call fabriclab.require("{VERSION}")']
    )


def keeps_functions_short(notebook):
    """A model written in a notebook is one that no test reads."""
    return [
        f"cell {cell['id']} defines {node.name} in {lines} lines: more than {LONGEST_FUNCTION}"
        " belong in the package"
        for cell in code_cells(notebook)
        for node in ast.walk(parsed(cell))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for lines in [node.end_lineno - node.lineno + 1]
        if lines > LONGEST_FUNCTION
    ]


def describes_its_pictures(notebook):
    """Who cannot see the picture needs its words, and nbval compares only the words."""
    return [
        f"cell {cell['id']} shows a picture described only as {words[:40]!r}"
        for cell in code_cells(notebook)
        for output in cell["outputs"]
        if "image/png" in output.get("data", {})
        for words in [output["data"].get("text/plain", "")]
        if len(words) <= 20 or words.startswith("<")
    ]


def commits_no_widgets(notebook):
    """A saved widget view is a dead id: it hides the picture that is there for a page nobody has
    run.
    """
    complaints = ["it holds saved widget state"] if "widgets" in notebook["metadata"] else []
    return complaints + [
        f"cell {cell['id']} holds a widget view"
        for cell in code_cells(notebook)
        for output in cell["outputs"]
        if rerun.WIDGET_VIEW in output.get("data", {})
    ]


def escapes_its_dollars(notebook):
    """Two prices in one paragraph, `$15 / $30`, are shown as mathematics; in JupyterLab even two
    escaped ones, or one beside a formula.
    """
    complaints = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        text = re.sub(r"\$\$.*?\$\$", "", prose(cell), flags=re.S)
        for paragraph in re.split(r"\n\s*\n", text):
            *closed, rest = re.split(r"(?<!\\)\$", paragraph)[1:] or [""]
            # of text $maths$ text $maths$ text, every second piece is maths; maths touches its
            # dollars, and no digit follows it
            pieces = [*closed, rest]
            bad = [
                maths
                for maths, after in zip(pieces[::2], [*pieces[1::2], None])
                if after is None or maths != maths.strip() or after[:1].isdigit()
            ]
            if closed or "$" in re.sub(r"\\\$", "", paragraph):
                complaints += [
                    f"cell {cell['id']} has a price that reads as maths: ${one.strip()[:20]} (write"
                    " \\$)"
                    for one in bad
                ]
            if paragraph.count(r"\$") > 1 or (r"\$" in paragraph and closed):
                complaints.append(
                    f"cell {cell['id']} has an escaped price beside another or beside maths, which"
                    " JupyterLab joins up: write 'dollars'"
                )
    return complaints


def has_orderly_headings(notebook):
    """Screen readers and JupyterLab's table of contents walk by headings."""
    levels = [
        (len(marks), title)
        for cell in notebook["cells"]
        if cell["cell_type"] == "markdown"
        for marks, title in re.findall(r"^(#{1,6})\s+(.*)", prose(cell), re.M)
    ]
    tops = [title for level, title in levels if level == 1]
    complaints = (
        []
        if len(tops) == 1 and levels[0][0] == 1
        else [f"it needs one title (#), at its head, and has {tops}"]
    )
    return complaints + [
        f"the heading {title!r} skips a level"
        for (before, _), (level, title) in zip(levels, levels[1:])
        if level > before + 1
    ]


def is_normalised(notebook):
    """What `make notebooks` would leave out must not be committed: the next run would show it as a
    change.
    """
    return (
        []
        if rerun.normalised(notebook) == notebook
        else ["saved by hand after a run: run `make notebooks`"]
    )


def is_blank(notebook):
    """A student's copy with outputs shows the answers; the questions alone stand in it."""
    return [
        f"cell {cell['id']} has been run"
        for cell in code_cells(notebook)
        if cell["execution_count"] is not None or cell["outputs"] and not _asks(cell)
    ]


def _asks(cell):
    """Whether a cell shows a question, or says who the student is, and nothing else."""
    if "Student(" in cell["source"]:
        return [output.get("text", "")[:18] for output in cell["outputs"]] == ['You work as "demo"']
    return re.fullmatch(r"\w+ = me\.ask\([^()]*\)", cell["source"]) and all(
        "text/markdown" in output.get("data", {}) for output in cell["outputs"]
    )


def holds_no_solution(notebook):
    """A mark left in a student's copy means that what stands between the marks was left too."""
    return [
        f"cell {cell['id']} holds {mark}"
        for cell in notebook["cells"]
        for mark in SOLUTION_MARKS
        if mark in cell["source"].upper()
    ]


def has_its_slides(notebook):
    """A cell without its place is missing from the lecture, and a section would begin in the middle
    of a slide.
    """
    complaints = []
    for n, cell in enumerate(notebook["cells"]):
        place = cell["metadata"].get("slideshow", {})
        begins = n == 0 or (cell["cell_type"] == "markdown" and re.match("##? ", cell["source"]))
        if place.get("slide_type") not in ("slide", "subslide", "fragment", "skip"):
            complaints.append(
                f"cell {cell['id']} has no place among the slides: run `make notebooks`"
            )
        elif begins and place["slide_type"] != "slide":
            complaints.append(f"cell {cell['id']} begins a section, but no slide")
        elif "notes" in place and place["slide_type"] == "skip":
            complaints.append(f"cell {cell['id']} has a question for the room and is skipped")
    return complaints


def asks_the_room(notebook):
    """A lecture in which nobody is asked teaches who knew it already; and a question without the
    usual answer is half a prompt.
    """
    prompts = {
        cell["id"]: cell["metadata"]["slideshow"]["notes"]
        for cell in notebook["cells"]
        if "notes" in cell["metadata"].get("slideshow", {})
    }
    said = re.compile(
        r"\*\*Ask the room:\*\* \S[^\n]*[?.]\n\n\*\*Most will say:\*\* \S[^\n]*\.\n\n\*\*But\*\*"
        r" \S[^\n]*[?.]"
    )
    complaints = (
        []
        if len(prompts) >= 3
        else [f"it asks the room {len(prompts)} times (slideshow.notes of a cell); three are few"]
    )
    return complaints + [
        f"cell {cell} has notes other than **Ask the room:** **Most will say:** **But**"
        for cell, notes in prompts.items()
        if not said.fullmatch(notes)
    ]


BOTH = [
    is_valid,
    has_unique_ids,
    asks_for_its_version,
    names_no_absolute_paths,
    keeps_functions_short,
    commits_no_widgets,
    escapes_its_dollars,
    has_orderly_headings,
]
COMMITTED = BOTH + [
    was_run,
    has_no_errors,
    has_no_stderr,
    shows_no_addresses,
    shows_what_it_should,
    describes_its_pictures,
    is_normalised,
]
LECTURED = [has_its_slides, asks_the_room]
STUDENTS = BOTH + [is_blank, holds_no_solution]


@pytest.mark.parametrize("guard", COMMITTED, ids=lambda guard: guard.__name__)
@pytest.mark.parametrize("path", notebooks("notebooks", "solutions"), ids=name)
def test_notebook(path, guard):
    """Each guard says in its own docstring what would be wrong."""
    assert guard(nbformat.read(path, as_version=nbformat.NO_CONVERT)) == []


@pytest.mark.parametrize("guard", LECTURED, ids=lambda guard: guard.__name__)
@pytest.mark.parametrize("path", notebooks("notebooks"), ids=name)
def test_slides(path, guard):
    """The same for what a lecture shows, which is notebooks/ alone."""
    assert guard(nbformat.read(path, as_version=nbformat.NO_CONVERT)) == []


@pytest.mark.parametrize("guard", STUDENTS, ids=lambda guard: guard.__name__)
@pytest.mark.parametrize("path", notebooks("exercises"), ids=name)
def test_exercises(path, guard):
    """The same for what a student gets, which must come without outputs and without answers."""
    assert guard(nbformat.read(path, as_version=nbformat.NO_CONVERT)) == []


@pytest.mark.parametrize(
    "path",
    [ROOT / "README.md", ROOT / "INSTRUCTOR.md", *notebooks("notebooks", "solutions", "exercises")],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_links_lead_somewhere(path):
    """A reader would click on a notebook, an exercise or a picture that is not there."""
    text = (
        path.read_text(encoding="utf8")
        if path.suffix == ".md"
        else "\n".join(
            cell["source"]
            for cell in nbformat.read(path, 4)["cells"]
            if cell["cell_type"] == "markdown"
        )
    )
    targets = [
        target
        for target in re.findall(r"\]\(([^)\s]+)\)", text)
        if not re.match(r"https?:|#", target)
    ]
    assert [
        target for target in targets if not (path.parent / target.partition("#")[0]).exists()
    ] == []


def test_there_is_something_to_guard():
    """With no notebook found, every test above would pass."""
    assert (
        notebooks("notebooks")
        and notebooks("exercises")
        and len(notebooks("exercises")) == len(notebooks("solutions"))
    )


# ---- and the guards guarded


def sample():
    """A notebook that no guard complains of: text, a version check, a number, a picture with its
    description.
    """
    new = nbformat.v4
    stream = [new.new_output("stream", text="fabriclab 0.1: notebook and package match.\n")]
    number = [new.new_output("execute_result", {"text/plain": "75.0"}, execution_count=2)]
    picture = [
        new.new_output(
            "display_data",
            {
                "image/png": "iVBORw0KGgo=\n",
                "text/plain": "Two lines that cross at 75 KB, where both take 3 us.",
            },
        )
    ]
    book = new.new_notebook(
        metadata=copy.deepcopy(rerun.KERNEL),
        cells=[
            new.new_markdown_cell(
                "# Transport 传输层\n\n## Predict\n\nIt costs \\$15 or 30 dollars.\n\nAnd $2^n$ is"
                " $10^3$ at $n = 10$.\n\n$$\n1 + 1\n$$",
                id="m0",
            ),
            new.new_code_cell(
                f'import fabriclab\nfabriclab.require("{VERSION}")',
                id="c1",
                execution_count=1,
                outputs=stream,
            ),
            new.new_code_cell(
                "def twice(x):\n    return 2 * x\n\ntwice(37.5)",
                id="c2",
                execution_count=2,
                outputs=number,
            ),
            new.new_code_cell(
                "fabriclab.course.engine.plot.show()", id="c3", execution_count=3, outputs=picture
            ),
            new.new_code_cell("x = 1", id="c4", execution_count=4),
            new.new_markdown_cell(
                "### Derive\n\n## What it means\n\nSee `$HOME`, `$1`.\n\n```\n# no heading:"
                " $5\n```",
                id="m5",
            ),
        ],
    )
    rerun.placed(book)
    for cell in book["cells"][:3]:
        cell["metadata"]["slideshow"]["notes"] = (
            "**Ask the room:** 1 + 1?\n\n**Most will say:** 3.\n\n**But** it is 2."
        )
    book["cells"][1]["metadata"]["slideshow"]["slide_type"] = "fragment"
    return nbformat.from_dict(book)


def emptied(book):
    """The same as a student gets it."""
    for cell in code_cells(book):
        cell["outputs"], cell["execution_count"] = [], None
    return book


def change(path, value):
    """A change to the sample: `value` at a path such as (2, "execution_count") into its cells."""

    def apply(book):
        *way, last = path
        place = book["cells"]
        for step in way:
            place = place[step]
        place[last] = value

    return apply


def add(cell, **output):
    return lambda book: book["cells"][cell]["outputs"].append(nbformat.from_dict(output))


FAULTS = [
    (is_valid, change((2, "cell_type"), "recipe")),
    (is_valid, lambda book: book.update(nbformat_minor=4)),
    (has_unique_ids, change((2, "id"), "c1")),
    (has_unique_ids, lambda book: book["cells"][2].pop("id")),
    (was_run, change((2, "execution_count"), None)),
    (was_run, change((2, "execution_count"), 7)),
    (has_no_errors, add(4, output_type="error", ename="ValueError", evalue="no", traceback=[])),
    (
        has_no_stderr,
        add(4, output_type="stream", name="stderr", text="RuntimeWarning: divide by zero"),
    ),
    (
        shows_no_addresses,
        change((2, "outputs", 0, "data", "text/plain"), "<object object at 0x7f3a2c1b04d0>"),
    ),
    (shows_no_addresses, change((1, "outputs", 0, "text"), "Lock at 0x7f3a2c1b04d0")),
    (names_no_absolute_paths, change((1, "outputs", 0, "text"), "read /home/someone/nccl.log")),
    (names_no_absolute_paths, change((4, "source"), 'open("/tmp/nccl.log")')),
    (names_no_absolute_paths, change((5, "source"), "Look into C:\\logs")),
    (shows_what_it_should, change((2, "outputs"), [])),
    (shows_what_it_should, change((4, "source"), "for x in range(3):\n    print(x)")),
    (shows_what_it_should, change((4, "source"), "%time 1 + 1")),
    (asks_for_its_version, change((1, "source"), 'import fabriclab\nfabriclab.require("0.0")')),
    (
        asks_for_its_version,
        change((1, "source"), f'import fabriclab  # fabriclab.require("{VERSION}")'),
    ),
    (
        asks_for_its_version,
        lambda book: book["cells"].insert(0, nbformat.v4.new_code_cell("import numpy", id="c0")),
    ),
    (keeps_functions_short, change((4, "source"), "def f(x):\n" + "    x += 1\n" * 6)),
    (
        keeps_functions_short,
        change((4, "source"), "class A:\n    def f(self):\n" + "        self.x = 1\n" * 6),
    ),
    (
        describes_its_pictures,
        change((3, "outputs", 0, "data", "text/plain"), "<Figure size 640x480 with 1 Axes>"),
    ),
    (describes_its_pictures, change((3, "outputs", 0, "data", "text/plain"), "a plot")),
    (describes_its_pictures, lambda book: book["cells"][3]["outputs"][0]["data"].pop("text/plain")),
    (commits_no_widgets, change((3, "outputs", 0, "data", rerun.WIDGET_VIEW), {"model_id": "a1"})),
    (commits_no_widgets, lambda book: book["metadata"].update(widgets={})),
    (escapes_its_dollars, change((5, "source"), "It costs $15 / $30 a port.")),
    (escapes_its_dollars, change((5, "source"), "It costs $15 and then\n$30 a port.")),
    (escapes_its_dollars, change((5, "source"), "From $15 (copper) to $1,000/m.")),
    (escapes_its_dollars, change((5, "source"), "It costs $15 a port.")),
    (escapes_its_dollars, change((5, "source"), r"It costs \$15 or \$30.")),
    (escapes_its_dollars, change((5, "source"), r"With $N$ ports it costs \$15.")),
    (has_orderly_headings, change((5, "source"), "# A second title")),
    (has_orderly_headings, change((5, "source"), "#### Too deep")),
    (has_orderly_headings, change((0, "source"), "No title")),
    (
        is_normalised,
        change((4, "metadata"), {"execution": {"iopub.execute_input": "2026-01-01T00:00:00Z"}}),
    ),
    (is_normalised, lambda book: book["metadata"]["language_info"].update(version="3.12.1")),
    (is_normalised, add(1, output_type="stream", name="stdout", text="a second chunk")),
    (has_its_slides, change((4, "metadata"), {})),
    (has_its_slides, change((0, "metadata", "slideshow", "slide_type"), "subslide")),
    (has_its_slides, change((5, "source"), "## A section")),
    (has_its_slides, change((2, "metadata", "slideshow", "slide_type"), "skip")),
    (asks_the_room, lambda book: book["cells"][2]["metadata"]["slideshow"].pop("notes")),
    (asks_the_room, change((2, "metadata", "slideshow", "notes"), "**Ask the room:** 1 + 1?")),
]


def test_no_guard_complains_of_a_good_notebook():
    """A guard that complains of what is right would be switched off."""
    assert {
        guard.__name__: guard(sample()) for guard in COMMITTED + LECTURED if guard(sample())
    } == {}
    assert {
        guard.__name__: guard(emptied(sample())) for guard in STUDENTS if guard(emptied(sample()))
    } == {}


@pytest.mark.parametrize(
    "guard, spoil", FAULTS, ids=[f"{guard.__name__}-{n}" for n, (guard, _) in enumerate(FAULTS)]
)
def test_guard_sees_its_fault(guard, spoil):
    """A guard that cannot see its fault guards nothing."""
    book = sample()
    spoil(book)
    assert len(guard(book)) == 1


@pytest.mark.parametrize("mark", SOLUTION_MARKS[:4])
def test_guards_of_a_students_copy(mark):
    """Outputs and marks of solutions must be seen in a student's copy."""
    assert len(is_blank(sample())) == 4
    book = emptied(sample())
    book["cells"][4]["source"] = f"### {mark}\nanswer = 42"
    assert len(holds_no_solution(book)) == 1


def test_every_guard_has_been_shown_a_fault():
    """A new guard comes with a notebook that it must complain of."""
    assert {guard for guard, _ in FAULTS} == set(COMMITTED + LECTURED)


# ---- make notebooks


def test_rerun_keeps_what_a_reader_sees_and_drops_the_rest():
    """Times, widget ids and split streams in the file would make every run look like a change."""
    book, clean = sample(), sample()
    book["cells"][4]["metadata"] = {"execution": {"x": 1}, "ExecuteTime": {}, "tags": ["kept"]}
    clean["cells"][4]["metadata"] = {"tags": ["kept"]}
    book["cells"][3]["outputs"][0]["data"][rerun.WIDGET_VIEW] = {"model_id": "a1"}
    book["metadata"].update(widgets={"state": {}}, kernelspec={"name": "mine"}, title="kept")
    clean["metadata"]["title"] = "kept"
    book["cells"][1]["outputs"] = [
        nbformat.v4.new_output("stream", text=half)
        for half in ("fabriclab 0.1: ", "notebook and package match.\n")
    ]
    before = copy.deepcopy(book)
    assert rerun.normalised(book) == clean
    assert book == before, "the notebook handed in was changed"
    assert rerun.normalised(clean) == clean


def test_cells_get_their_places_among_the_slides():
    """A new cell would be missing from the lecture, a prediction stand beside its answer, or an
    author's own choice be lost.
    """
    new = nbformat.v4
    text, long = (
        [new.new_output("stream", text="1\n2\n")],
        [new.new_output("stream", text="1\n" * 30)],
    )
    picture = [new.new_output("display_data", {"image/png": "iVBORw0KGgo=\n"})]
    table = [new.new_output("execute_result", {"text/html": "<tr>" * 40})]
    cells = [
        ("slide", new.new_markdown_cell("# Title")),
        ("skip", new.new_code_cell("fabriclab.require('0.1')", outputs=text)),
        ("slide", new.new_markdown_cell("## 1 Section\n\n**Predict.**")),
        ("fragment", new.new_code_cell("1 + 1", outputs=text)),
        ("skip", new.new_code_cell("x = 1")),
        ("subslide", new.new_code_cell("plot()", outputs=picture)),
        (
            "subslide",
            new.new_markdown_cell("**What it means.**\n\nMuch.\n\nAnd more.\n\nAnd yet more."),
        ),
        ("subslide", new.new_code_cell("long()", outputs=long)),
        ("subslide", new.new_markdown_cell("### Explore")),
        ("fragment", new.new_code_cell("table()", outputs=table)),
        ("subslide", new.new_markdown_cell("After a table.")),
        ("skip", new.new_code_cell('ledger.table("x")', outputs=table)),
        ("slide", new.new_markdown_cell("## 2 Errata")),
        ("fragment", new.new_code_cell('ledger.errata("x")', outputs=table)),
        (
            "skip",
            new.new_markdown_cell("## 3 Not today", metadata={"slideshow": {"slide_type": "skip"}}),
        ),
    ]
    book = new.new_notebook(cells=[cell for _, cell in cells])
    for _ in range(2):
        rerun.placed(book)
        assert [cell["metadata"]["slideshow"]["slide_type"] for cell in book["cells"]] == [
            place for place, _ in cells
        ]


def test_rerun_twice_gives_the_same_bytes(tmp_path, capsys):
    """`make notebooks` after no change must leave nothing for git to show."""
    path = tmp_path / "book.ipynb"
    book = sample()
    book["cells"][3]["source"] = "import ipywidgets\nipywidgets.IntSlider(3)"
    nbformat.write(book, path)
    assert rerun.main([str(path)]) == 0
    first = path.read_bytes()
    assert b"IntSlider" in first and b"model_id" not in first
    assert rerun.main([str(path)]) == 0
    same = path.read_bytes() == first  # no diff: of a notebook it takes minutes
    assert same
    read = nbformat.read(path, as_version=4)
    assert [cell["id"] for cell in read["cells"]] == [cell["id"] for cell in book["cells"]]
    assert is_normalised(read) == was_run(read) == []
    assert "book.ipynb: saved with its outputs" in capsys.readouterr().out


def test_rerun_leaves_a_failing_notebook_alone(tmp_path, capsys):
    """Half a run must not overwrite the outputs that were good."""
    path = tmp_path / "book.ipynb"
    book = sample()
    book["cells"][3]["source"] = "1 / 0"
    nbformat.write(book, path)
    before = path.read_bytes()
    assert rerun.main([str(path)]) == 1
    untouched = path.read_bytes() == before
    assert untouched
    assert "NOT saved" in (shown := capsys.readouterr().out) and "ZeroDivisionError" in shown


@pytest.mark.parametrize("path", notebooks("notebooks", "solutions"), ids=name)
def test_code_fits_its_cell(path):
    """A line would run out of its cell at 1280 pixels, and be scrolled for."""
    cells = nbformat.read(path, as_version=4).cells
    lines = [
        (cell.id, line)
        for cell in cells
        if cell.cell_type == "code"
        for line in cell.source.splitlines()
        if len(line) > 100
    ]
    assert lines == []
