"""GPU activity of nvidia-smi and dcgmi: layouts value by value, what the two numbers mean together,
damage refused.
"""

import random

import pytest
from damage import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabriclab import logs
from fabriclab.logs import gpus
from tools import samples as made

many = settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
SHARES = st.integers(0, 1000).map(lambda value: value / 1000)


@pytest.fixture
def file(tmp_path):
    def put(text):
        path = tmp_path / "gpus.txt"
        path.write_text(text)
        return path

    return put


SMI = """\
#Date       Time        gpu    pwr     sm    mem
#YYYYMMDD   HH:MM:SS    Idx      W      %      %
 20260105   10:00:00      0    612     98     31
 20260105   10:00:00      1    608      -      -
#Date       Time        gpu    pwr     sm    mem
#YYYYMMDD   HH:MM:SS    Idx      W      %      %
 20260105   10:00:01      0    115      4      1
 20260105   10:00:01      1    600    100     30
"""


def test_nvidia_smi(file):
    """Power would be read as utilisation, a dash as zero, or a repeated head end the table."""
    reading = logs.read(file(SMI))
    assert (reading.source, [(gpu.number, gpu.busy, gpu.active) for gpu in reading.gpus]) == (
        "nvidia-smi",
        [(0, (0.98, 0.04), ()), (1, (1.0,), ())],
    )
    assert (
        reading.gpus[0].idle == 0.5
        and reading.mean("busy") == pytest.approx((0.98 + 0.04 + 1) / 3)
        and reading.mean("active") is None
    )


def test_dcgmi(file):
    """A share would be taken for percent, GPUTL's percent for a share, or the order of the fields
    for granted.
    """
    reading = logs.read(
        file(
            "#Entity   SMACT        POWER        GPUTL\nID\nGPU 0     0.250        612.1       "
            " 97\nGPU 1     N/A          600.0        96\n"
        )
    )
    assert reading.source == "dcgmi"
    assert [(gpu.busy, gpu.active) for gpu in reading.gpus] == [((0.97,), (0.25,)), ((0.96,), ())]
    assert "it waits, as in a collective" in logs.report(reading.path)


@many
@given(
    samples=st.lists(
        st.lists(st.tuples(SHARES, SHARES), min_size=3, max_size=3), min_size=1, max_size=4
    )
)
def test_read_back_as_made(file, samples):
    """What was written and what is read would not be the same numbers."""
    reading = logs.read(file(made.dcgmi_dmon(samples)))
    assert [list(zip(gpu.busy, gpu.active)) for gpu in reading.gpus] == [
        [sample[gpu] for sample in samples] for gpu in range(3)
    ]
    reading = logs.read(
        file(made.nvidia_smi_dmon([[busy for busy, _ in sample] for sample in samples]))
    )
    assert [gpu.busy for gpu in reading.gpus] == [
        tuple(round(100 * sample[gpu][0]) / 100 for sample in samples) for gpu in range(3)
    ]


@pytest.mark.parametrize(
    "busy, active, words",
    [
        (0.99, 0.95, "the GPU is the limit"),
        (0.99, 0.3, "it waits"),
        (0.99, 0.85, "fill most"),
        (0.5, 0.47, "starved input"),
        (0.5, 0.1, "a slow network both"),
        (0.99, None, "does not tell"),
        (0.6, None, "the data path"),
        (None, 0.5, "without GRACT"),
    ],
)
def test_what_the_two_numbers_mean(busy, active, words):
    """A kernel that spins would be told as work, or a GPU without a kernel as one that waits for
    the network.
    """
    assert words in gpus.saying(
        gpus.Reading(
            "",
            "dcgmi",
            (gpus.Gpu(0, (busy,) * (busy is not None), (active,) * (active is not None)),),
        )
    )


def test_a_gpu_that_is_left_out(file):
    """One GPU without work among eight would be lost in the mean."""
    for busy, left_out in ((0.1, True), (0.75, True), (0.85, False)):
        said = logs.report(file(made.nvidia_smi_dmon([[0.99, 0.99, busy, 0.99]])))
        assert (f"GPU 2 is busy {busy:.0%}" in said) == left_out


def test_the_start_of_a_job_is_no_idleness(file):
    """Seconds before the job began would count as GPUs without work."""
    start, late = [0.05, 0.11, 0.03], [0.99] * 20

    def said(samples):
        return logs.report(file(made.nvidia_smi_dmon([[one] for one in samples])))

    assert "! " not in said(start + late) and "! " not in said(start + late[:5])
    assert "job began while this was measured" in said(start + late[:5])
    assert "! a kernel ran" in said(late + start * 8)


def test_a_job_that_is_nearly_always_busy_is_not_doubted(file):
    """Nine tenths, the chapter's healthy job, would be too little,
    or four fifths no cause to look.
    """
    for busy, doubted in ((0.92, False), (0.8, True)):
        assert (
            "! a kernel ran" in logs.report(file(made.nvidia_smi_dmon([[busy] * 2])))
        ) == doubted


def test_a_share_a_little_above_one(file):
    """A rounding of the tool's would be refused, or 105 % pass for one."""
    assert logs.read(file("#Entity   SMACT\nID\nGPU 0     1.001\n")).gpus[0].active == (1.0,)
    with pytest.raises(ValueError, match="not between 0 and 1.000"):
        logs.read(file("#Entity   SMACT\nID\nGPU 0     1.050\n"))


@pytest.mark.parametrize(
    "text, words",
    [
        (
            SMI + " 20260105   10:00:02      0    612    101     31\n",
            "line 9: '101' is not between",
        ),
        (
            SMI + " 20260105   10:00:02      0    612     98\n",
            "line 9: not a whole row of 6 columns",
        ),
        (SMI + " 20260105   10:00:02      0    612     98     3", "line 9: not a whole row"),
        ("# gpu     sm    mem\n# Idx      %      %\n", "header found but no samples"),
        ("# gpu     sm    mem\n    0      -      -\n", "missing data is not zero"),
        ("# gpu     sm    sm\n    0      1      2\n", "has a duplicate column"),
        (SMI + "#Entity   SMACT\n", "nvidia-smi and dcgmi in one file"),
        ("#Entity   SMACT\nID\nGPU 0     1.700\n", "is not between 0 and 1.000"),
        ("#Entity   SMACT\nID\nGPU 0     0\nGPU 1     0.412\n", "'0' is not between 0 and 1.000"),
        ("#Entity   SMACT\nID\nGPU 0     0.412\n.412\nGPU 1     nan\n", "line 4"),
        ("#Entity   SMACT\nID\nGPU 0     nan\n", "is not between 0 and 1.000"),
        ("# gpu     sm\n" + "    0     50\n" * 100_001, "more than 100,000 samples"),
    ],
)
def test_refused(file, text, words):
    """Half a row, a share that is none, or no sample at all would pass for a measurement."""
    with pytest.raises(ValueError, match="gpus.txt") as error:
        logs.read(file(text))
    assert words in str(error.value)


@many
@given(seed=st.integers(0, 10**6))
def test_damage_is_refused_or_changes_no_number(file, seed):
    """A damaged listing would give shares that no GPU had."""
    text = made.dcgmi_dmon([[(0.911, 0.412)] * 2] * 3)
    try:
        reading = logs.read(file(damaged(text, random.Random(seed))))
    except ValueError as error:
        assert "gpus.txt" in str(error)
    else:
        assert {value for gpu in reading.gpus for value in (*gpu.busy, *gpu.active)} <= {
            0.911,
            0.412,
        }


def test_the_query_as_csv(tmp_path):
    """The commonest log of utilisation would be unknown, a GPU without a number be all of them, or
    100 be a share of one.
    """
    path = tmp_path / "gpus.csv"
    rows = "{0}, 0, 99{1}\n{0}, 1, [N/A]\n{0}, 0, 97{1}\n"
    for when, unit in (("2026/11/30 10:00:00.000", " %"), ("NVIDIA H100 80GB HBM3", "")):
        path.write_text(f"name, index, utilization.gpu [%]\n{rows.format(when, unit)}")
        reading = logs.read(path)
        assert [gpu.busy for gpu in reading.gpus] == [(0.99, 0.97), ()]
    for text, says in (
        ("utilization.gpu [%]\n99 %\n", "ask for index as well"),
        ("index, utilization.gpu [%]\n0, 101 %\n", "is not between 0 and 100 %"),
        ("index, utilization.gpu [%]\n0\n0, 9", "not a whole row of 2 columns|ends in"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=says):
            logs.read(path)
