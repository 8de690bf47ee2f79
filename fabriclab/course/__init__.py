"""The book's companion: an engine, and one folder for each part of the chapter.

A part holds its `exercises`, its ledger `rows`, its `figures` and its `explorers`; what parts share
lies in `engine`.
"""

import importlib

from fabriclab.extras import missing

# in the order of the chapter; the errata have a folder too, and no exercises of their own
PARTS = (
    "opening",
    "wires",
    "transport",
    "topology",
    "behaviour",
    "cluster",
    "sharing",
    "monitoring",
    "frontier",
    "scaleup",
    "guide",
    "fallacies",
)
# the parts that ask questions, by the number of their notebook: the chapter's and the capstone
NUMBERED = {**dict(enumerate(PARTS, start=1)), 14: "design"}


def on_demand(part):
    """A part's `__getattr__`: its figures or explorers are imported when asked for, and what lacks
    a package says which extra brings it.
    """

    def get(name):
        if name.startswith("_"):
            raise AttributeError(f"module {part!r} has no attribute {name!r}")
        try:
            return importlib.import_module(f"{part}.{name}")
        except ModuleNotFoundError as fault:
            if fault.name == f"{part}.{name}":
                raise AttributeError(f"module {part!r} has no attribute {name!r}") from None
            raise missing(fault) from None

    return get
