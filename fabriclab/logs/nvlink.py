"""``nvidia-smi nvlink``: -s, the speed of each NVLink, and -e, its error counters.

The layout, in our words. A line per GPU ("GPU 0: NVIDIA H100 …"), under it a line per link: its
speed in GB/s or <inactive>; with -e the name of a counter and its count, or a bit error ratio.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabriclab.logs.layout import Layout
from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import Part, name, refuse
from fabriclab.units import GB

TOOL = "nvidia-smi nvlink"
LAYOUT = Layout(
    TOOL,
    begins={"gpu": "GPU {gpu:int}: {model:text}"},
    lines={
        "speed": "Link {link:int}: {speed:float} GB/s",
        "off": "Link {link:int}: <{state:word}>",
        "error": "Link {link:int}: {counter:text}: {value:count}",
        "errors": "Link {link:int}, {counter:text}: {value:count}",
        "ratio": "Link {link:int}: {counter:text}: {value:float}",
    },
    skip=(
        "Link {link:int}: {counter:text}: {rest:text}",
        "Link {link:int}, {rest}",
        "NVLINK {rest}",
        "Unable to {rest}",
    ),
)
# nvidia-smi -L prints the first line alone
SIGN = re.compile(r"^\s*Link \d{1,2}[:,] (?:\d|<\w+>|.*(?:[Ee]rror|BER|Retr|Recover))")
BEFORE = re.compile(r"^\s*GPU \d+: ")
_HARMLESS = ("replay", "successful")  # repaired, and seen on a good link now and then


@dataclass(frozen=True)
class Gpu:
    """One GPU: its `number` and `model`, the `speeds` of its links in bytes per second (None:
    inactive), and its `errors` as (link, counter, count).
    """

    line: int
    number: int
    model: str
    speeds: tuple[tuple[int, float | None], ...] = ()
    errors: tuple[tuple[int, str, float], ...] = ()

    @property
    def active(self):
        return sum(speed is not None for _, speed in self.speeds)


@dataclass(frozen=True)
class Reading:
    """The GPUs in the order of the text."""

    path: str
    gpus: tuple[Gpu, ...]

    tool = TOOL


def read(path: Part) -> "Reading":
    """A `Reading` of ``nvidia-smi nvlink`` -s or -e at `path`.

    Raises ValueError naming file, line and reason for a line that is neither, and for links without
    a GPU above them.
    """
    gpus, at = [], 1
    for at, form, values in LAYOUT.read(path):
        if form == "gpu":
            gpus.append((at, values["gpu"], re.sub(r" \(UUID.*", "", values["model"])[:80], [], []))
        elif form in ("speed", "off"):
            gpus[-1][3].append((values["link"], values["speed"] * GB if form == "speed" else None))
        else:
            gpus[-1][4].append((values["link"], values["counter"], float(values["value"])))
    found = [Gpu(*one[:3], tuple(one[3]), tuple(one[4])) for one in gpus if one[3] or one[4]]
    if not found:
        refuse(path, at, "GPUs, but no line of a link: no NVLink, or cut")
    return Reading(name(path), tuple(found))


def signs(reading: "Reading", rate: float | None = None) -> Iterator:
    """What stands out: links that are off, slower than the others, or with errors."""
    most = max((gpu.active for gpu in reading.gpus), default=0)
    speeds = [speed for gpu in reading.gpus for _, speed in gpu.speeds if speed]
    for gpu in reading.gpus:
        off = [str(link) for link, speed in gpu.speeds if speed is None]
        if off:
            beside = f", other GPUs have {most} active" if gpu.active < most else ""
            yield Sign(
                "nvlink-down", f"GPU {gpu.number}: NVLink {', '.join(off[:18])} inactive{beside}"
            )
        slow = [str(link) for link, speed in gpu.speeds if speed and speed < 0.99 * max(speeds)]
        if slow:
            yield Sign(
                "nvlink-slow",
                f"GPU {gpu.number}: NVLink {', '.join(slow[:18])} below the"
                f" {max(speeds) / GB:g} GB/s of the others",
            )
        bad = [
            f"link {link} {counter} {value:g}"
            for link, counter, value in gpu.errors
            if value >= 1 and not any(word in counter.lower() for word in _HARMLESS)
        ]
        if bad:
            yield Sign(
                "nvlink-errors",
                f"GPU {gpu.number}: {', '.join(bad[:6])}{' …' * (len(bad) > 6)}: a second reading"
                " tells whether they grow",
            )


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for NVLink."""
    count = len(reading.gpus)
    said = [f"{TOOL}: {count} GPU{'s' * (count != 1)} of {reading.gpus[0].model}"]
    kinds = {}
    for gpu in reading.gpus:
        if gpu.speeds:
            total = sum(speed or 0.0 for _, speed in gpu.speeds)
            key = f"{gpu.active} of {len(gpu.speeds)} links active, {total / GB:g} GB/s each way"
            kinds.setdefault(key, []).append(str(gpu.number))
        else:
            counted = sum(value >= 1 for _, _, value in gpu.errors)
            links = len({link for link, _, _ in gpu.errors})
            key = f"{links} link{'s' * (links != 1)}, {counted} counters not zero"
            kinds.setdefault(key, []).append(str(gpu.number))
    said += [f"  GPU {', '.join(gpus)}: {words}" for words, gpus in kinds.items()]
    return "\n".join([*said, *marked(signs(reading))])
