"""`make docs`: the reference of the models and the logs, made from their docstrings by pdoc.

    python -m tools.docs                       # everything, into build/docs
    python -m tools.docs build/one fabriclab.transport

The pages load nothing from elsewhere: styles, scripts and the search are in them.
"""

import sys
from pathlib import Path

import pdoc

MODULES = (
    "fabriclab !fabriclab.course !fabriclab.classroom !fabriclab.doctor !fabriclab.extras "
    "!fabriclab.find !fabriclab.progress !fabriclab.__main__"
).split()


def build(folder="build/docs", modules=MODULES):
    """Write one page for each of `modules` (pdoc's names, ``!`` leaves one out) into `folder`."""
    pdoc.render.configure(docformat="markdown", math=False, mermaid=False, show_source=True)
    pdoc.pdoc(*modules, output_directory=Path(folder))


if __name__ == "__main__":
    folder, *modules = sys.argv[1:] or ["build/docs"]
    build(folder, modules or MODULES)
    print(f"Open {folder}/index.html in a browser.")
