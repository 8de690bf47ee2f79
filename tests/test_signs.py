"""One judge: every sign that a reader or a step can yield stands in the table of causes, and `read`
and `diagnose` tell of the same file the same.
"""

import ast
from pathlib import Path

import pytest

import fabriclab
from fabriclab import logs
from fabriclab.logs import diagnose
from fabriclab.logs.diagnose import SIGNS, causes, weigh
from fabriclab.logs.sign import Sign, marked
from fabriclab.units import us
from tools import samples as made

HOME = Path(fabriclab.__file__).parent
FOLDERS = [folder for name in ("logs",) if (folder := HOME / name).is_dir()]


def yielded(text):
    """The names that a module's code gives to a Sign or Finding; refused where one is computed."""
    found = set()
    for call in ast.walk(ast.parse(text)):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        place = {"Sign": 0, "Finding": 1}.get(call.func.id)
        if place is None or len(call.args) <= place or isinstance(call.args[0], ast.Starred):
            continue
        if call.func.id == "Finding" and len(call.args) != 4:
            continue  # of `pairs`, or one that passes a reader's sign on
        name = call.args[place]
        assert isinstance(name, ast.Constant), f"line {call.lineno}: write the name of the sign out"
        found.add(name.value)
    return found


def test_every_name_is_in_the_table_and_every_row_is_used():
    """A misspelt sign would weigh nothing in silence, or a row of the table never count."""
    modules = [path for folder in FOLDERS for path in folder.rglob("*.py")]
    names = {name for path in modules for name in yielded(path.read_text())}
    renamed = {"nccl-good-once", "nccl-good-so-far"}  # of nccl-good, in diagnose.collective
    slow = {"slow-without-network", "slow-elsewhere"}  # of walk, from several steps
    assert names - set(SIGNS) == set()
    assert set(SIGNS) - names - renamed - slow == set()


def test_a_misspelt_name_is_seen():
    """The test above would pass whatever it reads."""
    assert yielded('yield Sign("port-donw", "…")') - set(SIGNS) == {"port-donw"}
    with pytest.raises(AssertionError, match="write the name"):
        yielded('yield Sign(name, "…")')
    with pytest.raises(KeyError, match="port-donw"):
        weigh({"port-donw"})


def test_sets_of_the_table_name_its_rows():
    """A sign that makes a step slow or sound would be one that nothing yields."""
    assert causes.SLOW | causes.FELT | set().union(*causes.SOUND.values()) <= set(SIGNS)


def test_every_reader_has_signs():
    """A reader's file would be read by one command and pass the other unseen."""
    assert all(callable(reader.signs) for reader in logs.READERS)
    assert marked([Sign("a", "b")], "    ") == ["    ! b"]


TOPOLOGY = (
    '<system version="1"><cpu numaid="0">'
    + "".join(
        f'<pci busid="0000:0{at}:00.0" class="0x030200" link_speed="32.0 GT/s PCIe"'
        f' link_width="{width}"><gpu dev="{at}" rank="{at}"/></pci>'
        for at, width in enumerate((16, 16, 4), 1)
    )
    + "</cpu></system>\n"
)
SIZES = [1 << power for power in range(16, 34)]


def _wrong_results():
    times = [1e-5 + size / 2e11 for size in SIZES]
    text = made.nccl_tests("all_reduce", SIZES, times, ["gpu-a01", "gpu-a02"], 8)
    return "\n".join(
        line[: line.rindex(" 0")] + " 7" if line.split()[:1] and line.split()[0].isdigit() else line
        for line in text.splitlines()
    )


CONTRADICTIONS = {
    "wrong results": (_wrong_results(), "wrong-results", "nccl-good"),
    "raw BER": (made.mlxlink([18 * 10**11] * 4, 86400.0, colours=False), "fec-margin", "clean"),
    "long tail": (
        made.perftest_latency(
            [2, 8], [(1 * us, 900 * us, 1.2 * us, 2 * us, 1 * us, 300 * us, 600 * us)] * 2
        ),
        "long-tail",
        "prompt",
    ),
    "PCIe x4": (TOPOLOGY, "pcie-slow", None),
    "no GPUDirect": (
        made.nccl_log(["gpu-a01", "gpu-a02"], 8, 8, channels=2)
        .replace("GPU Direct RDMA Enabled", "GPU Direct RDMA Disabled")
        .replace("/GDRDMA", ""),
        "no-gdr",
        None,
    ),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_read_and_diagnose_tell_the_same(case, tmp_path):
    """`read` would mark what `diagnose` calls clean, prompt or good, with "nothing wrong" under
    it.
    """
    text, sign, never = CONTRADICTIONS[case]
    file = tmp_path / "file.txt"
    file.write_text(text)
    found = diagnose.diagnose(tmp_path)
    seen = {finding.sign: finding for step in found.steps for finding in step.findings}
    assert sign in seen and never not in seen
    assert f"! {seen[sign].says}" in logs.report(file)
    assert found.status and "no fault found" not in found.verdict and seen[sign] in found.odd


def test_all_that_read_marks_reaches_diagnose(tmp_path):
    """A line with "!" would be told by one command alone: tried on every file of the notebooks."""
    home = Path(__file__).parent.parent / "notebooks" / "logs"
    for number, path in enumerate(sorted(home.iterdir())):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / path.name).write_bytes(path.read_bytes())
        found = diagnose.diagnose(folder)
        said = {finding.says for step in found.steps for finding in step.findings}
        lines = logs.report(path).splitlines()
        marks = [line.strip()[2:] for line in lines if line.strip().startswith("! ")]
        rated = ("under 60 %", "the link went down", "PortXmitDiscards")
        for mark in marks:
            assert mark in said or mark.startswith(rated), (path.name, mark)
        assert "no fault found" not in found.verdict or not marks
