"""fabriclab: the models behind a companion to a textbook chapter on network fabrics.

One module per level of the chapter; each is imported when it is first asked for, so ``import
fabriclab`` stays light::

    >>> from fabriclab import transport
    >>> from fabriclab.units import GB, KB, us
    >>> transport.crossover(1.5 * us, 50 * GB) / KB
    75.0
"""

import importlib
import importlib.util
import pkgutil

__version__ = "0.1.0"


# what commands are made of is no reading for a student
_COMMANDS = {"doctor", "extras", "find", "progress", "terminal"}


def __getattr__(name):
    if name.startswith("_") or name not in {one.name for one in pkgutil.iter_modules(__path__)}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")


def __dir__():
    rooms = {one.name for one in pkgutil.iter_modules(__path__) if not one.name.startswith("_")}
    return sorted(rooms - _COMMANDS | {"require"})


def require(version: str) -> None:
    """Say whether this notebook and the installed package belong together; every notebook's first
    cell calls this. Raises ModuleNotFoundError naming the extra that is not installed.

    >>> require("0.1")
    fabriclab 0.1: notebook and package match.
    """
    for package in ("matplotlib", "ipywidgets", "anywidget", "sympy"):
        if importlib.util.find_spec(package) is None:
            extras = importlib.import_module("fabriclab.extras")
            raise extras.missing(ModuleNotFoundError(name=package))
    installed = __version__.rsplit(".", 1)[0]
    if installed == version:
        print(f"fabriclab {installed}: notebook and package match.")
    else:
        print(
            f"This notebook was written for fabriclab {version}, but {installed} is installed: run"
            " `make setup` in the folder that holds this notebook."
        )
