"""From solutions/ to exercises/: take the worked answers out of each notebook, with nbgrader's own
preprocessors.

    python -m fabriclab.classroom.strip        # in the folder that holds solutions/; what `make
    exercises` runs

Stops, and writes nothing, at a marker that is unbalanced, misspelt, or in a cell nbgrader does not
know as a solution.
"""

import re
import sys
from pathlib import Path

from fabriclab.course.engine import exercises
from fabriclab.course.engine.exercises.student import AS_DEMO
from fabriclab.extras import missing

ASK = re.compile(r"""^[^#\n]*\.ask\(["']([\w.]+)["']\)""", re.MULTILINE)
HELLO = re.compile(r"""\bStudent\(["']""")
STUB, NOTES = "# your work here", "*Your notes, if you like to keep some.*"


def check_markers(notebook, name):
    """Raises ValueError, with notebook and cell, unless BEGIN SOLUTION and END SOLUTION come in
    pairs, one inside none.
    """
    for number, cell in enumerate(notebook.cells, start=1):
        inside = False
        for line in cell.source.splitlines():
            if not re.search(r"\b(begin|end)[\s_-]*sol", line, re.IGNORECASE):
                continue
            where = f"{name}, cell {number} ({cell.get('id', 'no id')})"
            marker = re.fullmatch(r"\s*(?:<!-- )?### (BEGIN|END) SOLUTION(?: -->)?\s*", line)
            if marker is None:
                raise ValueError(f"{where}: not a marker as it should be written: {line.strip()!r}")
            if (marker[1] == "BEGIN") == inside:
                raise ValueError(
                    f"{where}: {marker[1]} SOLUTION"
                    f" {'inside a solution' if inside else 'without its BEGIN'}"
                )
            inside = marker[1] == "BEGIN"
        if inside:
            raise ValueError(
                f"{name}, cell {number} ({cell.get('id', 'no id')}): BEGIN SOLUTION without its END"
            )


def strip(text, name="notebook"):
    """A student's notebook, as text, from a worked one: no solutions, blanks that run, and no
    outputs but the questions, as they are for "demo".
    """
    try:
        import nbformat
        from nbgrader import preprocessors
        from traitlets.config import Config
    except ModuleNotFoundError as fault:
        raise missing(fault) from None
    notebook = nbformat.reads(text, as_version=4)
    check_markers(notebook, name)
    config = Config()
    config.ClearSolutions.code_stub = {"python": STUB}
    config.ClearSolutions.text_stub = NOTES
    steps = (
        preprocessors.LockCells,
        preprocessors.ClearSolutions,
        preprocessors.ClearOutput,
        preprocessors.CheckCellMetadata,
        preprocessors.ComputeChecksums,
    )
    for step in steps:
        notebook, _ = step(config=config).preprocess(notebook, {})
    # a derivation leaves nothing behind; its cell goes with it
    notebook.cells = [cell for cell in notebook.cells if cell.source != NOTES]
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    show_questions(notebook.cells, "demo")
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def show_questions(cells, student):
    """Put each question, with this student's numbers, under the cell that asks it, as running the
    cell would: so it can be read on paper, or where no kernel is.
    """
    for cell in cells:
        source = "".join(cell["source"]) if cell["cell_type"] == "code" else ""
        asked = ASK.findall(source)
        if asked:
            cell["outputs"] = [_shown(student, name) for name in asked]
        elif HELLO.search(source):
            cell["outputs"] = [_hello()] if student == "demo" else []


def _shown(student, name):
    from nbformat import v4

    asked = exercises.Question(exercises.Student(student), name)
    data = {"text/markdown": asked.markdown, "text/plain": asked.text}
    return v4.new_output("display_data", data=data)


def _hello():
    from nbformat import v4

    return v4.new_output("stream", name="stdout", text=AS_DEMO + "\n")


def main(root="."):
    root = Path(root)
    sources = sorted((root / "solutions").glob("*.ipynb"))
    if not sources:
        raise SystemExit(f"no notebooks in {root / 'solutions'}")
    try:
        stripped = {
            path.name: strip(path.read_text(encoding="utf-8"), path.name) for path in sources
        }
    except (ValueError, RuntimeError) as error:
        raise SystemExit(f"nothing written: {error}") from error
    (root / "exercises").mkdir(exist_ok=True)
    for name, text in stripped.items():
        (root / "exercises" / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"exercises/{name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
