"""The extras of the package, and one line that names the one which is not installed."""

BRINGS = {
    "packets": ("numba",),
    "lab": ("jupyterlab", "ipywidgets", "anywidget", "matplotlib", "sympy", "IPython", "traitlets"),
    "class": ("nbgrader", "nbformat", "distributed"),
}


class Missing(ModuleNotFoundError):
    """A package that one of the extras brings is not installed."""


def missing(fault: ModuleNotFoundError) -> Missing:
    """The `ModuleNotFoundError` that names the extra which brings the module of `fault`.

    >>> print(missing(ModuleNotFoundError("No module named 'numba'", name="numba")))
    this needs numba, which the extra [packets] brings: pip install 'fabriclab[packets]'
    """
    package = (fault.name or "").partition(".")[0]
    for extra, packages in BRINGS.items():
        if package in packages:
            return Missing(
                f"this needs {package}, which the extra [{extra}] brings:"
                f" pip install 'fabriclab[{extra}]'",
                name=fault.name,
            )
    return fault
