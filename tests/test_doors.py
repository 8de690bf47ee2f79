"""The ways in: make, conda, the lock, the doctor and the command line. Each fault a reader may meet
is shown to it here.
"""

import importlib.util
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

import fabriclab
from fabriclab import __main__ as cli
from fabriclab import doctor

ROOT = Path(__file__).resolve().parent.parent
PYTHONS, SYSTEMS = ("3.11", "3.12", "3.13"), ("linux", "darwin")
CONDA_NAMES = {"matplotlib-base": "matplotlib", "playwright-python": "playwright"}


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def wanted():
    """Every package that pyproject.toml names, extras included, with its range;
    and python itself.
    """
    table = project()["project"]
    named = [
        Requirement(text)
        for text in table["dependencies"] + sum(table["optional-dependencies"].values(), [])
    ]
    return {"python": SpecifierSet(table["requires-python"])} | {
        r.name.lower(): r.specifier for r in named
    }


# ---- environment.yml


def conda_ranges(environment):
    """Package -> range, as an environment.yml names them (its own names made PyPI's); pip and its
    block left out.
    """
    found = {}
    for entry in environment["dependencies"]:
        if isinstance(entry, str) and entry != "pip":
            name, _, bounds = entry.partition(" ")
            found[CONDA_NAMES.get(name, name)] = SpecifierSet(bounds)
    return found


def probes(*ranges):
    """Versions at, just below and just above every bound named: ranges that agree on all of them
    agree everywhere.
    """
    bounds = {Version(clause.version) for specifiers in ranges for clause in specifiers}
    beside = [
        Version(f"{bound}{more}") for bound in bounds for more in ("", ".dev0", ".0.1", ".999")
    ]
    return sorted({Version("0"), Version("99999"), *beside})


def disagreements(these, those):
    """Package names where two tables of ranges part: named in one only, or admitting different
    versions.
    """
    apart = sorted(these.keys() ^ those.keys())
    return apart + sorted(
        name
        for name in these.keys() & those.keys()
        if any(
            these[name].contains(v, prereleases=True) != those[name].contains(v, prereleases=True)
            for v in probes(these[name], those[name])
        )
    )


def test_conda_and_pip_open_the_same_house():
    """A package or a bound changed in one of the two files only would give conda users another
    program.
    """
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert disagreements(conda_ranges(environment), wanted()) == []
    assert environment["name"] == "fabriclab"
    assert "conda-forge" in environment["channels"] and "pip" in environment["dependencies"]
    assert environment["dependencies"][-1] == {"pip": ["-e ."]}


@pytest.mark.parametrize(
    "range_", [">=2.0,<4", ">=2.1,<3", ">=2.0", "<3", ">2.0,<3", ">=2.0,<=3", ">=2.0,<3,!=2.5", ""]
)
def test_the_comparison_sees_every_other_range(range_):
    """A comparison that looked at lower bounds only would miss a changed upper one."""
    assert disagreements({"numpy": SpecifierSet(range_)}, {"numpy": SpecifierSet(">=2.0,<3")}) == [
        "numpy"
    ]
    assert (
        disagreements({"numpy": SpecifierSet("<3, >=2")}, {"numpy": SpecifierSet(">=2.0,<3")}) == []
    )
    assert disagreements({"numpy": SpecifierSet(">=2.0,<3")}, {}) == ["numpy"]


# ---- requirements.lock


def lock_text():
    return (ROOT / "requirements.lock").read_text(encoding="utf-8")


def locked(text):
    """The lock's requirements, each with the number of its hashes."""
    entries = re.split(
        r"\n(?=\S)",
        "\n".join(line for line in text.splitlines() if not line.strip().startswith("#")),
    )
    return [
        (
            Requirement(entry.split("--hash")[0].replace("\\", " ").strip()),
            entry.count("--hash=sha256:"),
        )
        for entry in entries
        if entry.strip()
    ]


def holds_on(requirement, python, system):
    platform = {"linux": ("posix", "Linux"), "darwin": ("posix", "Darwin")}[system]
    return requirement.marker is None or requirement.marker.evaluate(
        {
            "python_version": python,
            "python_full_version": f"{python}.0",
            "sys_platform": system,
            "os_name": platform[0],
            "platform_system": platform[1],
            "platform_machine": "x86_64",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
        }
    )


def lock_faults(text, ranges, python, system):
    """Packages that the lock, read on that Python and system, does not name exactly once in the
    range asked for.
    """
    here = [requirement for requirement, _ in locked(text) if holds_on(requirement, python, system)]
    faults = []
    for name, range_ in ranges.items():
        pins = [next(iter(r.specifier)) for r in here if r.name.lower() == name]
        if len(pins) != 1 or pins[0].operator != "==" or not range_.contains(pins[0].version):
            faults.append(name)
    return faults


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_lock_gives_what_the_project_asks_for(python, system):
    """A lock older than pyproject.toml would install, on one of the Pythons, a version that nobody
    has tried.
    """
    ranges = {name: range_ for name, range_ in wanted().items() if name != "python"}
    build = [
        Requirement(text) for text in project()["build-system"]["requires"]
    ]  # installed without network, so locked as well
    assert (
        lock_faults(lock_text(), ranges | {r.name: r.specifier for r in build}, python, system)
        == []
    )


def test_a_stale_lock_is_seen():
    """If reading the lock forgave a missing package, an old version or a wrong marker, the test
    above could not fail.
    """
    ranges = {"numpy": SpecifierSet(">=2.0,<3")}
    assert lock_faults("numpy==2.4.1 \\\n    --hash=sha256:ab\n", ranges, "3.11", "linux") == []
    assert lock_faults("numpy==1.26.0 \\\n    --hash=sha256:ab\n", ranges, "3.11", "linux") == [
        "numpy"
    ]
    assert lock_faults("scipy==1.26.0 \\\n    --hash=sha256:ab\n", ranges, "3.11", "linux") == [
        "numpy"
    ]
    split = (
        "numpy==2.4.1 ; python_full_version >= '3.12' \\\n    --hash=sha256:ab\nnumpy==2.0.0 ;"
        " python_full_version < '3.12' \\\n    --hash=sha256:cd\n"
    )
    assert (
        lock_faults(split, ranges, "3.11", "linux")
        == lock_faults(split, ranges, "3.13", "darwin")
        == []
    )
    assert lock_faults(split.split("numpy==2.0.0")[0], ranges, "3.11", "linux") == ["numpy"]


def test_lock_is_hashed_and_names_no_address():
    """pip refuses a lock with one hash missing; an address in it would tie every reader to one
    mirror.
    """
    entries = locked(lock_text())
    assert len(entries) > 50
    assert [
        str(requirement) for requirement, hashes in entries if not hashes or requirement.url
    ] == []
    assert not re.search(
        r"://|^\s*--?(index|extra-index|find-links|trusted-host|i\b|f\b)", lock_text(), re.M
    )


def test_lock_compiles_to_the_same_bytes(tmp_path):
    """A lock edited by hand, or not compiled again after a change, is not what `make lock` would
    write.
    """
    uv = shutil.which("uv") or shutil.which("uv", path=os.path.dirname(sys.executable))
    if not uv:
        pytest.skip("uv is not installed here")
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    done = run_make(
        tmp_path,
        "lock",
        UV_OFFLINE="1",
        PATH=os.pathsep.join((os.path.dirname(uv), os.environ["PATH"])),
    )
    if "network was disabled" in done.stderr:
        pytest.skip(
            "uv has not all packages' descriptions in its cache, and this test asks no network for"
            " them"
        )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "requirements.lock").read_text(encoding="utf-8") == lock_text()


# ---- make


def run_make(folder, target, **environment):
    # the pytest that runs this was started by make: its flags are not for this one
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    return subprocess.run(
        [shutil.which("make"), target],
        cwd=folder,
        env=clean | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def bare(tmp_path):
    """A copy of the Makefile, and an empty place for programs: nothing is on PATH but sh's own
    tools and what a test adds.
    """
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "cat", "rm", "awk", "id"):
        (programs / name).symlink_to(shutil.which(name))
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def fake_python(folder, name, body):
    path = folder / "programs" / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_make_says_that_python_is_missing(bare):
    """A reader without Python must read what to install, not "command not found"."""
    done = run_make(bare, "setup", PATH=str(bare / "programs"))
    assert done.returncode
    assert "fabriclab needs Python 3.11 or newer and found none (python3: missing)." in done.stderr


def test_make_says_that_python_is_too_old(bare):
    """An old Python would fail minutes later, in the middle of an installation, for no reason that
    a reader could see.
    """
    fake_python(bare, "python3", 'if [ "$1" = --version ]; then echo Python 3.9.2; else exit 1; fi')
    done = run_make(bare, "setup", PATH=str(bare / "programs"))
    assert done.returncode
    assert "found none (python3: Python 3.9.2)" in done.stderr


def test_make_says_that_venv_is_missing(bare):
    """Debian's Python comes without venv, and its own message names no cause."""
    fake_python(
        bare,
        "python3.12",
        'case "$2" in *ensurepip*) exit 1;; esac; [ "$1" != --version ] || echo Python 3.12.3',
    )
    done = run_make(bare, "setup", PATH=str(bare / "programs"))
    assert done.returncode
    assert "Python 3.12.3 lacks its venv module." in done.stderr and "python3-venv" in done.stderr


def test_make_takes_a_newer_python_when_python3_is_old(bare):
    """Many systems keep an old python3 beside a new python3.12."""
    fake_python(bare, "python3", "exit 1")
    fake_python(
        bare,
        "python3.12",
        'case "$*" in --version) echo Python 3.12.3;; *"-m venv"*) exit 7;; esac',
    )
    done = run_make(bare, "setup", PATH=str(bare / "programs"))
    assert done.stdout.strip() == "Making .venv with Python 3.12.3." and done.returncode


def test_make_sets_up_once_and_again_after_a_move(bare):
    """Setting up at every `make test` would be slow; not setting up a moved folder would leave it
    importing the old one.
    """
    python = bare / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(bare / "programs" / "fake")
    fake_python(bare, "fake", f'echo "$@" >> {bare}/log')
    assert run_make(bare, "setup", PATH=str(bare / "programs")).returncode == 0
    first = (bare / "log").read_text()
    assert (
        "--require-hashes -r requirements.lock" in first
        and "--no-deps --no-build-isolation -e ." in first
    )
    run_make(bare, "setup", PATH=str(bare / "programs"))
    assert (bare / "log").read_text() == first
    (bare / ".venv" / ".ready").write_text("/another/folder\n")
    run_make(bare, "setup", PATH=str(bare / "programs"))
    assert (bare / "log").read_text() == first + first


def test_make_lists_every_target(bare):
    """`make` alone is the first thing that a reader types."""
    shown = run_make(bare, "help").stdout
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.M)
    assert (
        set(re.findall(r"^make (\w+)", shown, re.M))
        == set(targets)
        >= {"setup", "lab", "test", "notebooks", "exercises", "bench"}
    )


def test_make_lab_opens_a_notebook_that_exists():
    """`make lab` would greet a reader with "file not found"."""
    opened = re.search(r"default_url=/lab/tree/(\S+)", (ROOT / "Makefile").read_text())[1]
    assert (ROOT / opened).is_file()


def run_ci(bare, user, *present):
    """Run .ci/run where only the programs named exist; returns it with the words that each was
    called with.
    """
    (bare / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", bare / ".ci")
    for program in ("bash", "dirname"):
        (bare / "programs" / program).symlink_to(shutil.which(program))
    (bare / "programs" / "id").unlink()
    fake_python(bare, "id", f"echo {user}")
    for program in present:
        fake_python(bare, program, f'echo {program} "$@"' if program in ("make", "apt-get") else "")
    (bare / "elsewhere").mkdir()
    return subprocess.run(
        ["bash", bare / ".ci" / "run"],
        cwd=bare / "elsewhere",
        env={"PATH": str(bare / "programs")},
        capture_output=True,
        text=True,
    )


def test_ci_installs_what_is_lacking_and_then_tests(bare):
    """On a bare machine CI would fail for want of a browser or of venv; elsewhere it must not touch
    the system.
    """
    done = run_ci(bare, 0, "make", "apt-get")
    assert done.returncode == 0
    assert (
        "apt-get install -q -y --no-install-recommends chromium bubblewrap python3 python3-venv"
        in done.stdout
    )
    assert done.stdout.endswith("\nmake test\n")


def test_ci_installs_nothing_where_nothing_lacks(bare):
    """Each run would otherwise wait for the package index."""
    assert (
        run_ci(bare, 0, "make", "apt-get", "chromium", "bwrap", "python3").stdout == "make test\n"
    )


def test_ci_says_what_a_user_cannot_install(bare):
    """Without root the tests still run, and the reason for what then fails is on record."""
    done = run_ci(bare, 1000, "make", "apt-get", "python3")
    assert (
        done.stdout == "make test\n" and "lacks chromium bubblewrap, and only root" in done.stderr
    )


def test_version_is_the_same_everywhere():
    """pip would show one version and the notebooks compare another."""
    assert project()["project"]["version"] == fabriclab.__version__


# ---- doctor


def problems(findings):
    return [finding for finding in findings if not finding.good]


def test_doctor_on_packages():
    """A package that is missing or out of range must be named with what is needed, and an extra
    that nobody here asked for must be a note.
    """
    requires = [
        "numpy>=2.0,<3",
        'sympy>=1.13; extra == "lab"',
        "pytest>=8; extra == 'test'",
        "scipy<2,>=1.13",
    ]
    have = {"numpy": "1.26.4", "scipy": "1.17.0"}
    old, missing, for_tests = problems(doctor.packages(requires, have.get))
    assert "numpy 1.26.4 is installed; fabriclab needs >=2.0,<3." in old.says and old.needed
    assert "make setup" in old.mend
    assert "sympy is not installed; the notebooks need" in missing.says and missing.needed
    assert "pytest is not installed" in for_tests.says and not for_tests.needed
    assert "only to run the tests" in for_tests.says and "fabriclab[test]" in for_tests.mend
    assert not doctor.packages(requires, have.get, ())[2].needed  # [lab], at a bare terminal
    have |= {"numpy": "2.4.6", "sympy": "1.14", "pytest": "9.1"}
    assert problems(doctor.packages(requires, have.get)) == []


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=4),
    st.lists(st.integers(0, 30), min_size=1, max_size=4),
    st.sampled_from([">=", "<", "==", "!=", ">", "<="]),
)
def test_versions_are_compared_as_packaging_compares_them(version, bound, sign):
    """1.10 would pass for older than 1.9, or 2 for another version than 2.0."""
    text, wanted = ".".join(map(str, version)), sign + ".".join(map(str, bound))
    assert doctor.within(text, wanted) == SpecifierSet(wanted).contains(text)


def test_doctor_on_python():
    """A Python that pyproject.toml excludes must be called too old."""
    assert doctor.python("3.13.0", ">=3.11").good
    old = doctor.python("3.10.13", ">=3.11")
    assert not old.good and old.needed and "3.10.13" in old.says


def test_doctor_on_kernels():
    """Without a kernel, or with one that starts another Python, notebooks fail with "No module
    named fabriclab".
    """
    assert doctor.kernel(["python", "-m", "ipykernel_launcher"], sys.executable).good
    assert doctor.kernel([sys.executable, "-m", "ipykernel_launcher"], sys.executable).good
    assert "no kernel" in doctor.kernel(None, sys.executable).says
    other = doctor.kernel(["/elsewhere/bin/python", "-m", "ipykernel_launcher"], sys.executable)
    assert (
        not other.good
        and "/elsewhere/bin/python" in other.says
        and "ipykernel install" in other.mend
    )


def write_notebook(folder, name, source):
    folder.mkdir(exist_ok=True)
    cells = [
        {"cell_type": "markdown", "source": ["# fabriclab.require('9.9') is only words here"]},
        {"cell_type": "code", "source": [source]},
    ]
    (folder / name).write_text(json.dumps({"cells": cells}))


def test_doctor_on_notebooks(tmp_path):
    """Notebooks of one version run with a package of another give errors that a reader cannot
    place.
    """
    folder = tmp_path / "notebooks"
    write_notebook(folder, "01-same.ipynb", 'import fabriclab\nfabriclab.require("0.1")')
    write_notebook(folder, "02-newer.ipynb", 'import fabriclab\nfabriclab.require("0.2")')
    write_notebook(folder, "03-silent.ipynb", "import fabriclab")
    (folder / "04-broken.ipynb").write_text("<<<<<<< HEAD")
    good, newer, silent, broken = doctor.notebooks(folder, "0.1.4")
    assert good.good and "1 notebooks" in good.says
    assert (
        newer.says == "02-newer.ipynb was written for fabriclab 0.2, but 0.1 is installed."
        and newer.needed
    )
    assert "03-silent.ipynb" in silent.says and not silent.good
    assert "04-broken.ipynb cannot be read" in broken.says and "git checkout" in broken.mend
    assert not doctor.notebooks(None, "0.1.4")[0].needed


def test_doctor_on_the_browser():
    """Someone who only reads must not be told that something is broken because there is no
    Chromium.
    """
    assert doctor.browser("/usr/bin/chromium").good
    assert not doctor.browser(None).good and not doctor.browser(None).needed


def test_doctor_on_the_box():
    """An instructor would learn of a missing bubblewrap from a batch that refuses, or a reader be
    told that something is broken.
    """
    assert doctor.box("/usr/bin/bwrap").good and "bwrap" in doctor.box("/usr/bin/bwrap").says
    assert not doctor.box(None).good and not doctor.box(None).needed
    assert any("bubblewrap" in finding.says for finding in doctor.examine())


def test_doctor_finds_the_browser_that_is_named(monkeypatch, tmp_path):
    """A browser outside PATH could not be used, or another than the one asked for would be."""
    monkeypatch.setattr(doctor, "CHROMIUM", ("chromium",))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    assert doctor.chromium() is None
    for name in ("chromium", "mine"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    assert doctor.chromium() == str(tmp_path / "chromium")
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "mine"))
    assert doctor.chromium() == str(tmp_path / "mine")


@pytest.mark.parametrize(
    "package, says", [("sympy", "sympy is not installed"), ("numpy", "numpy is not installed")]
)
def test_doctor_exits_1_on_a_fault(monkeypatch, capsys, package, says):
    """A script that asks the doctor first must be able to stop."""
    real = doctor._installed
    monkeypatch.setattr(doctor, "_installed", lambda name: None if name == package else real(name))
    assert cli.main(["doctor"]) == 1
    shown = capsys.readouterr().out
    assert says in shown and "make setup" in shown and "1 fault to fix." in shown


def test_doctor_when_fabriclab_itself_is_not_installed(monkeypatch, capsys):
    """Run from a bare clone, the doctor must name the one thing to do."""

    def absent(name):
        raise doctor.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.metadata, "metadata", absent)
    assert cli.main(["doctor"]) == 1
    assert "fabriclab itself is not installed" in capsys.readouterr().out


def test_doctor_sees_files_of_another_version(monkeypatch, capsys):
    """After a `git pull` without `make setup` the installed ranges are the old ones."""
    monkeypatch.setattr(fabriclab, "__version__", "0.1.99")
    assert cli.main(["doctor"]) == 1
    assert "but its files are of 0.1.99" in capsys.readouterr().out


def test_doctor_is_content_here(capsys):
    """On the machine that `make test` has just set up there is nothing to mend."""
    status = cli.main(["doctor"])
    shown = capsys.readouterr().out
    assert status == 0, shown
    assert "FAULT" not in shown and shown.strip().endswith("All that is needed here is in order.")


# ---- the command line


def fabriclab_command(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "fabriclab", *words],
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )


def test_ledger_passes_its_flag_on(monkeypatch, capsys):
    """A flag dropped on the way would print the counts again."""
    from fabriclab.course.engine import ledger

    monkeypatch.setattr(ledger, "report", lambda *flags: ",".join(map(str, flags)))
    lines = (
        [],
        ["--errata"],
        ["--all"],
        ["--find", "ring", "242"],
        ["--source", ledger.SOURCES[0]],
    )
    for words in lines:
        assert cli.main(["ledger", *words]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "False,False,,",
        "True,False,,",
        "False,True,,",
        "False,False,ring 242,",
        f"False,False,,{ledger.SOURCES[0]}",
    ]


def test_read_reports_what_it_can_and_refuses_the_rest(monkeypatch, capsys, tmp_path):
    """One unreadable file must cost a plain line and exit status 2,
    not the reports of the others.
    """
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "notebooks/logs/allreduce_16_ranks.txt", "good.log")
    Path("bad.log").write_text("meeting notes\n")
    assert cli.main(["read", "good.log"]) in (0, 1)
    alone = capsys.readouterr().out
    assert cli.main(["read", "bad.log", "good.log"]) == 2
    out, err = capsys.readouterr()
    assert out == f"== good.log\n{alone}" and "16 ranks" in alone
    assert err.startswith("bad.log, line 1: ") and err.count("\n") == 1


def test_read_never_shows_a_traceback(monkeypatch, capsys, tmp_path):
    """A missing file, a folder, a forbidden file and a picture are everyday mistakes."""
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\r\n\xff\xfe")
    for path, reason in [
        (tmp_path / "none", "no such file"),
        (tmp_path, "diagnose"),
        (picture, "not the output of a tool"),
    ]:
        assert cli.main(["read", str(path)]) == 2
        shown = capsys.readouterr().err
        assert shown.startswith(f"{path}") and reason in shown.lower() and shown.count("\n") == 1

    def forbidden(path):
        raise PermissionError(13, "Permission denied", path)

    from fabriclab import logs

    monkeypatch.setattr(logs, "readings", forbidden)
    assert cli.main(["read", "secret"]) == 2
    assert capsys.readouterr().err == "secret: permission denied\n"


@pytest.mark.parametrize("path", ["no-such-file", "."])
def test_read_as_a_command(path):
    """The same through a real process and the real reader: exit status 2 and one line."""
    done = fabriclab_command("read", path)
    assert (
        done.returncode == 2
        and done.stdout == ""
        and done.stderr.count("\n") == 1
        and done.stderr.startswith(path)
    )


def test_help_and_unknown_commands():
    """`fabriclab --help` is how a reader learns what there is."""
    shown = fabriclab_command("--help").stdout
    assert all(command in shown for command in ("doctor", "ledger", "read"))
    assert fabriclab_command("--version").stdout == f"fabriclab {fabriclab.__version__}\n"
    unknown = fabriclab_command("cure")
    assert (
        unknown.returncode == 2
        and "invalid choice" in unknown.stderr
        and "Traceback" not in unknown.stderr
    )


@pytest.mark.parametrize("words", [["doctor"], ["ledger", "--errata"]])
def test_a_closed_pipe_is_no_error(words):
    """`fabriclab doctor | head -1` must end quietly, and so must more than a pipe takes in."""
    script = (
        f"{shlex.quote(sys.executable)} -c 'import sys, time; from fabriclab import __main__ as m,"
        f" doctor; time.sleep(0.3); sys.exit(m.main({json.dumps(words)}))' | true"
    )
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert done.stderr == ""


def test_the_readme_shows_what_the_commands_say(capsys, monkeypatch, tmp_path):
    """The README would show what `read` and `diagnose` no longer print."""
    said = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = dict(
        re.findall(r"^\$ fabriclab ([^\n]*)\n(.*?)(?=^\$ |^```)", said, re.MULTILINE | re.DOTALL)
    )
    (tmp_path / "notes.txt").write_text("meeting notes\n")
    (tmp_path / "cut.txt").write_text(
        "".join((ROOT / "notebooks/logs/allreduce_16_ranks.txt").read_text().splitlines(True)[:24])
    )
    for command, words in shown.items():
        monkeypatch.chdir(ROOT if "notebooks/" in command else tmp_path)
        cli.main(command.split())
        printed = "".join(capsys.readouterr())
        assert printed.endswith(words.removeprefix("...\n")) and words.strip(), command
    assert len(shown) == 3


# ---- the light door


@pytest.fixture(scope="module")
def bare_environment(tmp_path_factory):
    """The wheel, unpacked where only numpy and scipy of this environment can be seen."""
    folder = tmp_path_factory.mktemp("bare")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "fabriclab"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps"]
    built = subprocess.run(
        [*pip, "--no-build-isolation", "--no-index", "-w", folder, source],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    site = folder / "site"
    [wheel] = folder.glob("*.whl")
    shutil.unpack_archive(wheel, site, "zip")
    for package in ("numpy", "scipy"):
        home = Path(importlib.util.find_spec(package).origin).parent.parent
        for path in [
            *home.glob(f"{package}"),
            *home.glob(f"{package}-*"),
            *home.glob(f"{package}.libs"),
        ]:
            (site / path.name).symlink_to(path)
    return site


def bare_command(site, *words):
    code = "import sys; from fabriclab.__main__ import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-S", "-c", code, *map(str, words)],
        env={"PYTHONPATH": str(site), "PATH": os.environ["PATH"]},
        cwd=site,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_wheel_asks_for_numpy_and_scipy_alone(bare_environment):
    """`pip install fabriclab` on a login node would bring JupyterLab with it."""
    [about] = bare_environment.glob("fabriclab-*.dist-info/METADATA")
    needed = [
        line.partition(": ")[2]
        for line in about.read_text(encoding="utf-8").splitlines()
        if line.startswith("Requires-Dist") and "extra ==" not in line
    ]
    assert sorted(re.match(r"\w+", one)[0] for one in needed) == ["numpy", "scipy"]
    assert not (bare_environment / "tools").exists()


@pytest.mark.parametrize(
    "words, said",
    [
        (["read", ROOT / "notebooks/logs/allreduce_16_ranks.txt"], "16 ranks"),
        (["diagnose", ROOT / "notebooks/incidents/01-alder"], "step"),
        (["ledger"], "agrees"),
        (["ledger", "--errata"], "differs"),
        (["find", "ring", "allreduce"], "collectives.ring_allreduce"),
        (["doctor"], "[lab]"),
    ],
)
def test_commands_need_numpy_and_scipy_alone(bare_environment, words, said):
    """An engineer at a login node would be asked to install a notebook server."""
    done = bare_command(bare_environment, *words)
    assert done.returncode in (0, 1) and said in done.stdout and done.stderr == "", done.stderr


@pytest.mark.parametrize(
    "statement, extra",
    [
        ("from fabriclab import packets; packets.incast(2, 1e4, 1e9, 1e6)", "packets"),
        ("from fabriclab.course.transport import figures", "lab"),
        ("from fabriclab.course.transport import explorers", "lab"),
    ],
)
def test_what_lacks_an_extra_says_which(bare_environment, statement, extra):
    """ "No module named numba" does not say what to install."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", statement],
        env={"PYTHONPATH": str(bare_environment)},
        cwd=bare_environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode and f"'fabriclab[{extra}]'" in done.stderr.splitlines()[-1]
