"""Run notebooks and save them with their outputs: `make notebooks`, or `python -m tools.rerun
notebooks/03-transport.ipynb` for one.

What changes from run to run without meaning anything (times, widget ids, chunks of a stream) is
left out of the file, so that the next diff shows only what a reader would see. A notebook with a
cell that fails is reported and left as it was.
"""

import copy
import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
os.environ["FABRICLAB_PROGRESS"] = "off"  # what is saved must not depend on other days
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
SLIDE = 17  # lines
CELL_METADATA = {"tags", "slideshow", "jupyter", "editable", "deletable", "nbgrader"}
KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    # as JupyterLab writes it, or a notebook would be changed by being opened; the version is that
    # of the locked environment, whoever runs this
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.11.7",
    },
}


def joined(outputs):
    """The outputs, with neighbouring chunks of one stream made one."""
    kept = []
    for output in outputs:
        before = kept[-1] if kept else {}
        if output["output_type"] == "stream" and before.get("name") == output["name"]:
            before["text"] += output["text"]
        else:
            kept.append(output)
    return kept


def normalised(notebook):
    """A copy of `notebook` that holds what a reader sees, and nothing that differs from one run to
    the next.
    """
    notebook = copy.deepcopy(notebook)
    kept = {
        key: value for key, value in notebook["metadata"].items() if key not in ("widgets", *KERNEL)
    }
    notebook["metadata"] = type(notebook["metadata"])({**kept, **copy.deepcopy(KERNEL)})
    notebook["nbformat_minor"] = max(5, notebook["nbformat_minor"])
    for place, cell in enumerate(notebook["cells"]):
        cell.setdefault("id", hashlib.sha1(f"{place} {cell['source']}".encode()).hexdigest()[:8])
        for key in set(cell["metadata"]) - CELL_METADATA:
            del cell["metadata"][key]
        if cell["cell_type"] != "code":
            continue
        if cell["metadata"].get("jupyter", {}).get("outputs_hidden"):
            cell["metadata"]["collapsed"] = True  # as JupyterLab writes it when it saves
        cell["outputs"] = joined(cell["outputs"])
        for output in cell["outputs"]:
            if "data" in output:
                # the picture and its description stay; the widget itself comes back when the cell
                # is run
                output["data"].pop(WIDGET_VIEW, None)
                alt = output["metadata"].get("image/png", {}).get("alt")
                output["metadata"] = type(output["metadata"])(
                    {"image/png": {"alt": alt}} if alt else {}
                )
        cell["outputs"] = [output for output in cell["outputs"] if output.get("data") != {}]
    return notebook


def _lines(cell):
    """About how many lines of a slide a cell takes; a picture takes it all."""
    if cell["cell_type"] == "markdown":
        return sum(
            1 if line.startswith("|") else 1.1 * -(-len(line) // 85)
            for line in cell["source"].splitlines()
        )
    source = (
        0
        if cell["metadata"].get("jupyter", {}).get("source_hidden")
        else cell["source"].count("\n") + 1
    )
    kinds = [
        kind
        for output in cell["outputs"]
        for kind in output.get("data", {"text": output.get("text", "")})
    ]
    words = sum(output.get("text", "").count("\n") for output in cell["outputs"])
    rows = sum(
        output["data"]["text/html"].count("<tr>")
        for output in cell["outputs"]
        if "text/html" in output.get("data", {})
    )
    full = 1.2 * rows + (SLIDE if _pictures(cell) else 0)
    return (
        0.7 * (source if source <= 6 else 1) + 0.8 * words + 2.2 * kinds.count("text/latex") + full
    )


def _pictures(cell):
    return any(
        "image/png" in data or "fabriclab-scene" in "".join(data.get("text/html", ""))
        for data in (output.get("data", {}) for output in cell.get("outputs", []))
    )


def placed(notebook):
    """Give each cell that has none its place among the slides: `slide`, `subslide`, `fragment`
    (waits for a key) or `skip`.

    A section begins a slide; whatever comes after waits on the same slide while there is room, and
    then begins another.
    No title stands alone on its slide but before a picture.
    Imports, tables of the ledger that only agree, and cells that show nothing are for readers.
    """
    room = 0
    for number, cell in enumerate(notebook["cells"]):
        begins = re.match(r"#{1,3} ", cell["source"]) if cell["cell_type"] == "markdown" else None
        silent = cell["cell_type"] == "code" and (
            not cell["outputs"]
            or re.search(r"^ledger\.table|fabriclab\.require", cell["source"], re.M)
        )
        takes = _lines(cell)
        if begins:
            kind = "subslide" if begins[0] == "### " else "slide"
        else:
            stays = takes <= room or (
                takes < SLIDE * 4 and room > SLIDE - 4 and not _pictures(cell)
            )
            kind = "skip" if silent else "fragment" if number and stays else "subslide"
        kind = cell["metadata"].setdefault("slideshow", {}).setdefault("slide_type", kind)
        if kind in ("slide", "subslide"):
            room = SLIDE
        if kind != "skip":
            room -= takes


def rerun(path, target=None, *arguments):
    """Run one notebook in its own folder and save it (in `target`, if given); returns the failure
    in words, or None.

    `arguments` go to the kernel. Cells of `notebooks/` that have no place among the slides get one.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=ERROR", *arguments],
    )
    try:
        client.execute(env=os.environ | {"JUPYTER_PREFER_ENV_PATH": "1"})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as failure:
        return re.sub(r"\x1b\[[0-9;]*m", "", str(failure)).strip()
    if path.parent == ROOT / "notebooks":
        placed(notebook)
    nbformat.write(normalised(notebook), target or path)


def main(names):
    paths = [Path(name) for name in names] or [
        p for d in ("notebooks", "solutions") for p in sorted((ROOT / d).glob("*.ipynb"))
    ]
    for path in paths:
        if not path.is_file():
            print(
                f"{path} is not a notebook here: write notebooks/03-transport.ipynb",
                file=sys.stderr,
            )
            return 2
    failed = 0
    with tempfile.TemporaryDirectory() as own:
        # nothing of the reader's own settings may slip into what is committed
        os.environ.update(
            {
                name: own
                for name in (
                    "JUPYTER_CONFIG_DIR",
                    "JUPYTER_DATA_DIR",
                    "JUPYTER_RUNTIME_DIR",
                    "IPYTHONDIR",
                )
            }
        )
        for path in paths:
            failure = rerun(path.resolve())
            failed += failure is not None
            print(
                f"{path.name}: {'saved with its outputs' if failure is None else 'NOT saved:'}",
                *[failure] if failure else [],
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
