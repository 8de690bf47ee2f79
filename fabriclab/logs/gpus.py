"""GPU activity, second by second: ``nvidia-smi dmon``, its ``--query-gpu`` as CSV, and ``dcgmi
dmon``, the first step of the chapter's workflow.

The layout, in our words. nvidia-smi: a line "# gpu sm mem …" (a date or time in front with -o), a
line of units, one row per GPU and sample, "-" where not measured; --query-gpu with --format=csv: a
line of names, "index, utilization.gpu [%]", rows "0, 99 %". dcgmi: a line "#Entity SMACT …" with
the short names of the fields asked for, a line "ID", rows "GPU 0  0.912"; N/A where not measured.
dmon repeats its heads now and then.

Two numbers that are easily taken for one. *Utilisation* (sm of nvidia-smi in percent, GPUTL of
dcgmi in percent, GRACT there as a share) is the part of the time in which any kernel ran: one that
spins in a collective and waits for others counts as busy. *Activity* (SMACT, a share) is how much
of the multiprocessors had work: a waiting kernel holds a few.
"""

import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import MOST_ROWS, Part, lines, name, refuse, shorten

TOOL = "GPU activity"
BUSY = 0.9  # the chapter's healthy job shows 92 % (Checkpoint 1.5)
STEADY = 0.7  # a job that has begun is this busy, and stays so
ENOUGH = 10  # samples of a job that began while it was measured
IDLE = 0.1  # a sample below it ran hardly any kernel
_SMI = re.compile(r"^#(?:\s*(?:Date|Time))*\s*gpu\s.*\bsm\b")
_DCGM = re.compile(r"^#\s*Entity\s.*\b(?:SMACT|GRACT|GPUTL)\b")
_CSV = re.compile(
    r"^(?=.*\butilization\.gpu \[%\])[a-z_.]+(?: \[[^\],]*\])?(?:, ?[a-z_.]+(?: \[[^\],]*\])?)*\s*$"
)
SIGN = re.compile(f"{_SMI.pattern}|{_DCGM.pattern}|{_CSV.pattern}")
_COLUMNS = {
    "sm": ("busy", 100.0),
    "GPUTL": ("busy", 100.0),
    "GRACT": ("busy", 1.0),
    "SMACT": ("active", 1.0),
    "utilization.gpu [%]": ("busy", 100.0),
}
_MISSING = ("-", "N/A", "[N/A]", "[Not Supported]")
_MOST_GPUS = 1024


@dataclass(frozen=True)
class Gpu:
    """One GPU: its `number`, and sample by sample the share of time in which a kernel ran (`busy`)
    and the share of
    multiprocessors at work (`active`); empty where not measured."""

    number: int
    busy: tuple[float, ...] = ()
    active: tuple[float, ...] = ()

    def running(self, what):
        """The samples of `what` without those before the job began, where it did: the start of a
        measurement is no idleness of the job.
        """
        samples = getattr(self, what)
        begins = next((at for at, value in enumerate(samples) if value >= STEADY), 0)
        rest = samples[begins:]
        idle = all(value < STEADY / 2 for value in samples[:begins])
        return rest if idle and len(rest) > 2 and statistics.fmean(rest) >= STEADY else samples

    @property
    def idle(self):
        """The share of samples in which hardly any kernel ran, None without samples."""
        seen = self.busy or self.active
        return sum(value < IDLE for value in seen) / len(seen) if seen else None


@dataclass(frozen=True)
class Reading:
    """GPU activity as read: `source` "nvidia-smi" or "dcgmi", and the GPUs by number."""

    path: str
    source: str
    gpus: tuple[Gpu, ...]

    tool = TOOL

    def mean(self, what):
        """The mean of `what` ("busy" or "active") over GPUs and samples,
        None where not measured.
        """
        values = [value for gpu in self.gpus for value in gpu.running(what)]
        return statistics.fmean(values) if values else None


def read(path: Part) -> "Reading":
    """A `Reading` of nvidia-smi's or dcgmi's dmon at `path`.

    Raises ValueError naming file, line and reason for a row that is not whole, a share that is
    none, both tools in one file, and a file without a sample.
    """
    source, head, seen, rows, last = None, None, {}, 0, 0
    for line in lines(path):
        last, text = line.number, line.text[:1000]
        if not text.strip():
            continue
        if found := SIGN.match(text):
            here = "dcgmi" if "Entity" in found[0] else "nvidia-smi"
            if source not in (None, here):
                refuse(
                    path,
                    last,
                    "output of nvidia-smi and dcgmi in one file; save each tool's output in its"
                    " own file",
                )
            source, head = here, _head(path, line, text, here)
        elif head and ("," in text or re.match(r"\s*(?:GPU )?[\d.]", text)):
            _row(path, line, text, source, head, seen)
            rows += 1
            if rows > MOST_ROWS or len(seen) > _MOST_GPUS:
                refuse(path, last, f"more than {MOST_ROWS:,} samples or {_MOST_GPUS:,} GPUs")
    gpus = [
        Gpu(number, tuple(values["busy"]), tuple(values["active"]))
        for number, values in sorted(seen.items())
    ]
    if not any(gpu.busy or gpu.active for gpu in gpus):
        refuse(path, last, "header found but no samples (missing data is not zero)")
    return Reading(name(path), source, tuple(gpus))


def _head(path, line, text, source):
    """The columns by place: "gpu", or the field and its unit, or None."""
    names = _cells(text.replace("#", " "))
    if "utilization.gpu [%]" in names and "index" not in names:
        refuse(path, line.number, "it does not say whose rows they are: ask for index as well")
    if not line.whole or len(set(names)) != len(names):
        refuse(
            path,
            line.number,
            f"header line is truncated or has a duplicate column: {shorten(text)}",
        )
    return [
        "gpu" if label in ("gpu", "Entity", "index") else _COLUMNS.get(label) for label in names
    ]


def _cells(text):
    if "," in text or "[%]" in text:
        return [cell.strip().removesuffix(" %") for cell in text.split(",")]
    return re.sub(r"^(\s*)GPU ", r"\1", text).split()


def _row(path, line, text, source, head, seen):
    cells = _cells(text)
    if not line.whole or len(cells) != len(head):
        refuse(path, line.number, f"not a whole row of {len(head)} columns: {shorten(text)}")
    number, values = None, {}
    for what, cell in zip(head, cells):
        if what == "gpu":
            if not re.fullmatch(r"\d{1,4}", cell):
                refuse(path, line.number, f"{shorten(cell)} is not a GPU index")
            number = int(cell)
        elif what and cell not in _MISSING:
            field, scale = what
            # a share is printed to three places: one with fewer was cut
            shape = r"\d\.\d{3,6}" if scale == 1 else r"\d{1,3}(?:\.\d{1,6})?"
            value = float(cell) / scale if re.fullmatch(shape, cell) else -1.0
            if not 0 <= value <= 1.001:
                refuse(
                    path,
                    line.number,
                    f"{shorten(cell)} is not between 0 and {'100 %' if scale > 1 else '1.000'}:"
                    f" {shorten(text)}",
                )
            values.setdefault(field, min(value, 1.0))
    kept = seen.setdefault(number, {"busy": [], "active": []})
    for field, value in values.items():
        kept[field].append(value)


_SAYING = {
    "full": (
        "the multiprocessors are at work nearly all the time: the GPU is the limit, not the network"
    ),
    "busy": (
        "a kernel runs nearly all the time; whether it computes or spins in a collective this does"
        " not tell: dcgmi dmon -e 1001,1002"
    ),
    "dense": "kernels run nearly all the time and fill most of the multiprocessors",
    "waits": (
        "a kernel runs nearly all the time, but few multiprocessors have work: it waits, as in a"
        " collective"
    ),
    "holes": (
        "while kernels run they fill the GPU, but part of the time none runs: nothing was given to"
        " it, as with starved input"
    ),
    "low": (
        "part of the time no kernel runs: starved input looks like this, and so may a slow network;"
        " see that the data path feeds the GPU first"
    ),
    "sparse": (
        "part of the time no kernel runs, and while one runs few multiprocessors have work: starved"
        " input and a slow network both look like this"
    ),
    "begins": (
        "the job began while this was measured, and too few samples are left to judge it: measure"
        " for a minute while it runs"
    ),
    "unclear": (
        "without GRACT (1001) beside it this does not tell a GPU that waits in a kernel from one"
        " that has none"
    ),
}


def state(reading: Reading) -> str:
    """What the two numbers mean together, in a word: "full", "busy" or "dense" for GPUs that work,
    "waits" for a kernel that does not compute, "holes", "low" or "sparse" for times without a
    kernel, "begins" where the job had hardly begun, "unclear" where only activity was measured.

    >>> state(Reading("", "nvidia-smi", (Gpu(0, busy=(0.99, 1.0)),)))
    'busy'
    >>> state(Reading("", "dcgmi", (Gpu(0, busy=(0.99, 1.0), active=(0.3, 0.2)),)))
    'waits'
    """
    busy, active = reading.mean("busy"), reading.mean("active")
    if any(0 < len(gpu.running("busy")) < min(len(gpu.busy), ENOUGH) for gpu in reading.gpus):
        return "begins"
    if active is not None and active >= BUSY:
        return "full"
    if busy is None:
        return "unclear"
    filled = active is not None and active >= 0.8 * busy
    if busy >= BUSY:
        return "busy" if active is None else "dense" if filled else "waits"
    return "low" if active is None else "holes" if filled else "sparse"


def saying(reading: Reading) -> str:
    """The same in a sentence, with the numbers."""
    numbers = ", ".join(
        f"{words} {value:.0%}"
        for what, words in (("busy", "a kernel ran"), ("active", "multiprocessors at work"))
        if (value := reading.mean(what)) is not None
    )
    return f"{numbers}: {_SAYING[state(reading)]}"


def signs(reading: "Reading", rate: float | None = None) -> Iterator:
    """What stands out in the activity of GPUs; `rate` is not needed."""
    found = state(reading)
    if found == "waits":
        yield Sign("gpu-waits", saying(reading))
    elif found == "holes":
        yield Sign("gpu-holes", saying(reading))
    elif found == "low":
        yield Sign("gpu-low", saying(reading))
    elif found == "sparse":
        yield Sign("gpu-sparse", saying(reading))
    means = [(statistics.fmean(gpu.busy), gpu.number) for gpu in reading.gpus if gpu.busy]
    if len(means) > 2 and min(means)[0] < 0.8 * statistics.median(mean for mean, _ in means):
        yield Sign(
            "gpu-left-out",
            f"GPU {min(means)[1]} is busy {min(means)[0]:.0%} of the time, the median of all"
            f" {statistics.median(mean for mean, _ in means):.0%}: one that is left out",
        )


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for GPU activity."""
    count = len(reading.gpus)
    samples = max(max(len(gpu.busy), len(gpu.active)) for gpu in reading.gpus)
    head = (
        f"GPU activity ({reading.source}): {count} GPU{'s' * (count != 1)}, {samples}"
        f" sample{'s' * (samples != 1)} each"
    )
    said = []
    for what, words in (
        ("busy", "utilisation, the share of time in which a kernel ran"),
        ("active", "SM activity, the share of multiprocessors at work"),
    ):
        if (mean := reading.mean(what)) is not None:
            each = [
                statistics.fmean(getattr(gpu, what)) for gpu in reading.gpus if getattr(gpu, what)
            ]
            said.append(
                f"{words}: {mean:.0%}"
                + (f" (from {min(each):.0%} to {max(each):.0%} by GPU)" if len(each) > 1 else "")
            )
    idle = [gpu.idle for gpu in reading.gpus if gpu.idle is not None]
    said.append(f"samples with hardly any kernel: {statistics.fmean(idle):.0%}")
    if state(reading) in ("full", "busy", "dense", "begins", "unclear"):
        said.append(_SAYING[state(reading)])
    return "\n".join([head, *(f"  {line}" for line in said), *marked(signs(reading))])
