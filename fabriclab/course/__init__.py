"""The book's companion: an engine, and one folder for each part of the chapter.

A part holds its `exercises`, its ledger `rows`, its `figures` and its `explorers`; what parts share
lies in `engine`.
"""

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
