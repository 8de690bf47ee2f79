"""`fabriclab doctor`: is everything here that the notebooks need, and does it match? In plain
words, each fault with its mend.

The checks take what they judge as arguments; `examine` gathers it from this machine. It needs
nothing but Python: it runs where numpy does not.
"""

import json
import operator
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import fabriclab

SETUP = (
    "Run `make setup` in fabriclab's folder (with conda: `conda env update -f environment.yml`)."
)
CHROMIUM = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
REQUIRES = re.compile(r"""fabriclab\.require\(\s*["']([\d.]+)["']\s*\)""")
PURPOSE = {
    "lab": "to open the notebooks",
    "packets": "to run the packet simulator",
    "class": "to teach a class",
    "test": "to run the tests",
    "docs": "to make the reference pages",
}
COMPARE = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: whether it is in order, what there is to say, and how to mend
    it.
    """

    good: bool
    says: str
    mend: str = ""
    needed: bool = True

    def __str__(self):
        mark = "ok" if self.good else "FAULT" if self.needed else "note"
        return f"{mark:6}{self.says}" + (f"\n      {self.mend}" if self.mend else "")


def within(version: str, wanted: str) -> bool:
    """Whether a version lies in a range such as ">=2.0,<3"; each is compared number by number.

    >>> within("2.4.1", ">=2.0,<3"), within("1.26.4", ">=2.0,<3"), within("3.0", "<3,>=2.0")
    (True, False, False)
    """
    clauses = re.findall(r"([<>=!]=|[<>])\s*([\w.]+)", wanted)
    return all(COMPARE[sign](*_numbers(version, bound)) for sign, bound in clauses)


def _numbers(*versions):
    """Versions as tuples of numbers, all of one length: "2" and "2.0.0" are the same."""
    found = [[int(n) for n in re.match(r"[\d.]*", v)[0].strip(".").split(".")] for v in versions]
    longest = max(map(len, found))
    return [tuple(numbers + [0] * (longest - len(numbers))) for numbers in found]


def python(version, wanted):
    """Does this Python's version lie in the package's range?"""
    if within(version, wanted):
        return Finding(True, f"Python {version}")
    return Finding(
        False,
        f"Python {version} is outside the range that fabriclab runs on, {wanted}.",
        "Install a newer Python, remove the folder .venv, and run `make setup`.",
    )


def packages(
    requires: list[str], installed: Callable, wanted: tuple[str, ...] = ("lab", "packets")
) -> list[Finding]:
    """Compare requirements ("numpy<3,>=2.0; extra == 'lab'") with `installed(name)`, a version or
    None. What only an extra needs is a fault where that extra is `wanted` here, else a note.

    >>> found = {"numpy": "1.26.4"}.get
    >>> print(packages(["numpy>=2.0,<3"], found)[0].says)
    numpy 1.26.4 is installed; fabriclab needs >=2.0,<3.
    >>> print(packages(["sympy>=1.13; extra == 'lab'"], found, ())[0].says)
    The extra [lab] is not complete, which is needed only to open the notebooks: sympy is not
    installed (needs >=1.13).
    """
    missing, good = {}, []
    for requirement in requires:
        name, bounds, marker = re.match(r"([\w.-]+)\s*([^;]*);?\s*(.*)", requirement).groups()
        extra = re.search(r"""extra == ['"](\w+)""", marker)
        bounds, version = bounds.strip(), installed(name)
        if version is not None and within(version, bounds):
            good.append(name)
            continue
        state = "is not installed" if version is None else f"{version} is installed"
        missing.setdefault(extra and extra[1], []).append((name, state, bounds))
    findings = [Finding(True, f"{len(good)} packages in range: {', '.join(good)}")] * bool(good)
    for extra, ones in missing.items():
        if extra is None or extra in wanted:
            needs = "fabriclab needs" if extra is None else "the notebooks need"
            findings += [
                Finding(False, f"{name} {state}; {needs} {bounds}.", SETUP)
                for name, state, bounds in ones
            ]
            continue
        listed = ", ".join(f"{name} {state} (needs {bounds})" for name, state, bounds in ones)
        findings.append(
            Finding(
                False,
                f"The extra [{extra}] is not complete, which is needed only {PURPOSE[extra]}:"
                f" {listed}.",
                f"If you want that: pip install 'fabriclab[{extra}]'",
                needed=False,
            )
        )
    return findings


def kernel(command, interpreter):
    """Does the kernel named python3, started by `command` (None: there is no such kernel), run this
    interpreter?
    """
    if command is None:
        return Finding(False, "Jupyter has no kernel named python3, so no notebook can run.", SETUP)
    if re.fullmatch(r"python(3(\.\d+)?)?", command[0]) or os.path.realpath(
        command[0]
    ) == os.path.realpath(interpreter):
        return Finding(True, "the kernel python3 runs this Python")
    return Finding(
        False,
        f"The kernel python3 runs another Python, {command[0]}, which may lack fabriclab.",
        "Remove it (`jupyter kernelspec remove python3`), or install this one over it:"
        f" `{interpreter} -m ipykernel install --sys-prefix`.",
    )


def notebook_version(path):
    """The fabriclab version ("0.1") that the first code cell of a notebook asks for, or None.

    Raises ValueError when the file is not a notebook.
    """
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        first = next((cell for cell in cells if cell["cell_type"] == "code"), {"source": ""})
        found = REQUIRES.search("".join(first["source"]))
    except (ValueError, LookupError, TypeError, OSError) as fault:
        raise ValueError(f"{path.name} cannot be read as a notebook") from fault
    return found and found[1]


def notebooks(folder, version):
    """Do the notebooks under `folder` belong to package `version`? `folder` is None when there are
    none here.
    """
    if folder is None:
        return [
            Finding(
                False,
                "There are no notebooks here to compare with the package.",
                "Run `fabriclab doctor` in the folder that holds notebooks/.",
                needed=False,
            )
        ]
    findings, good, installed = [], 0, version.rsplit(".", 1)[0]
    for path in sorted(folder.glob("*.ipynb")):
        try:
            wanted = notebook_version(path)
        except ValueError as fault:
            findings.append(
                Finding(
                    False, f"{fault}.", f"Fetch it anew: `git checkout {folder.name}/{path.name}`."
                )
            )
            continue
        if wanted == installed:
            good += 1
        elif wanted is None:
            findings.append(
                Finding(
                    False,
                    f"{path.name} does not say which fabriclab it was written for.",
                    f'Its first code cell should call fabriclab.require("{installed}").',
                    needed=False,
                )
            )
        else:
            findings.append(
                Finding(
                    False,
                    f"{path.name} was written for fabriclab {wanted}, but {installed} is"
                    " installed.",
                    SETUP,
                )
            )
    return [
        Finding(True, f"{good} notebooks in {folder.name}/ match fabriclab {installed}")
    ] * bool(good) + findings


def chromium():
    """The path of the Chromium that the variable CHROMIUM names, or of one on this machine, or
    None.
    """
    return next(filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), *CHROMIUM))), None)


def browser(path):
    if path:
        return Finding(True, f"Chromium for the browser tests: {path}")
    return Finding(
        False,
        "No Chromium: the tests that drive JupyterLab in a browser will be skipped.",
        "Install one if you want them (Debian: `sudo apt-get install chromium`), or name it in the"
        " variable CHROMIUM.",
        needed=False,
    )


def box(path):
    if path:
        return Finding(True, f"bubblewrap, to grade a class: {path}")
    return Finding(
        False,
        "No bubblewrap: students' notebooks cannot be graded safely here, which matters only to who"
        " teaches a class.",
        "Install it if you do (Debian: `sudo apt-get install bubblewrap`); it runs on Linux alone.",
        needed=False,
    )


def _installed(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _kernel_command():
    try:
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
    except ImportError:
        return None
    try:
        return KernelSpecManager().get_kernel_spec("python3").argv
    except NoSuchKernel:
        return None


def notebook_folder():
    package_folder = Path(fabriclab.__file__).resolve().parent.parent
    folders = [base / "notebooks" for base in (Path.cwd(), package_folder)]
    return next((folder for folder in folders if any(folder.glob("*.ipynb"))), None)


def examine():
    """Every finding about this machine, in the order a reader would mend them."""
    try:
        about = metadata.metadata("fabriclab")
    except metadata.PackageNotFoundError:
        return [Finding(False, "fabriclab itself is not installed in this Python.", SETUP)]
    findings = [python(platform.python_version(), about["Requires-Python"])]
    if about["Version"] != fabriclab.__version__:
        findings.append(
            Finding(
                False,
                f"fabriclab {about['Version']} was installed, but its files are of"
                f" {fabriclab.__version__}.",
                SETUP,
            )
        )
    folder = notebook_folder()
    wanted = ("lab", "packets") if folder else ()
    findings += packages(metadata.requires("fabriclab") or [], _installed, wanted)
    if folder or _installed("jupyterlab"):
        findings.append(kernel(_kernel_command(), sys.executable))
    findings += notebooks(folder, fabriclab.__version__)
    findings += [browser(chromium()), box(shutil.which("bwrap"))]
    return findings


def report(findings):
    """The findings as text, with a closing line that counts the faults."""
    faults = sum(not finding.good and finding.needed for finding in findings)
    closing = (
        "All that is needed here is in order."
        if not faults
        else f"{faults} fault{'s' * (faults > 1)} to fix."
    )
    return "\n".join([*map(str, findings), closing])


def sound(findings):
    """Whether nothing that is needed is missing or out of range."""
    return all(finding.good or not finding.needed for finding in findings)
