"""Run notebooks and save them with their outputs: `make notebooks`, or `python notebooks/rerun.py FILE...` for a few.

What changes from run to run without meaning anything (times, widget ids, chunks of a stream) is left out of the file, so
that the next diff shows only what a reader would see. A notebook with a cell that fails is reported and left as it was.
"""

import copy
import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CELL_METADATA = {"tags", "slideshow", "jupyter", "editable", "deletable", "nbgrader"}
KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
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
    """A copy of `notebook` that holds what a reader sees, and nothing that differs from one run to the next."""
    notebook = copy.deepcopy(notebook)
    kept = {key: value for key, value in notebook["metadata"].items() if key not in ("widgets", *KERNEL)}
    notebook["metadata"] = type(notebook["metadata"])({**kept, **copy.deepcopy(KERNEL)})
    notebook["nbformat_minor"] = max(5, notebook["nbformat_minor"])
    for place, cell in enumerate(notebook["cells"]):
        cell.setdefault("id", hashlib.sha1(f"{place} {cell['source']}".encode()).hexdigest()[:8])
        for key in set(cell["metadata"]) - CELL_METADATA:
            del cell["metadata"][key]
        if cell["cell_type"] != "code":
            continue
        cell["outputs"] = joined(cell["outputs"])
        for output in cell["outputs"]:
            if "data" in output:
                # the picture and its description stay; the widget itself comes back when the cell is run
                output["data"].pop(WIDGET_VIEW, None)
                alt = output["metadata"].get("image/png", {}).get("alt")
                output["metadata"] = type(output["metadata"])({"image/png": {"alt": alt}} if alt else {})
    return notebook


def rerun(path):
    """Run one notebook in its own folder and save it; returns the failure in words, or None."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}},
                            extra_arguments=["--log-level=ERROR"])
    try:
        client.execute(env=os.environ | {"JUPYTER_PREFER_ENV_PATH": "1"})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as failure:
        return re.sub(r"\x1b\[[0-9;]*m", "", str(failure)).strip()
    nbformat.write(normalised(notebook), path)


def main(names):
    paths = [Path(name) for name in names] or [p for d in ("notebooks", "solutions") for p in sorted((ROOT / d).glob("*.ipynb"))]
    failed = 0
    with tempfile.TemporaryDirectory() as own:
        # nothing of the reader's own settings may slip into what is committed
        os.environ.update({name: own for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")})
        for path in paths:
            failure = rerun(path.resolve())
            failed += failure is not None
            print(f"{path.name}: {'saved with its outputs' if failure is None else 'NOT saved:'}", *[failure] if failure else [], flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
