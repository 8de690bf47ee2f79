"""The lines of nccl-tests and rccl-tests, as patterns; `table` puts them together."""

import re
from dataclasses import dataclass

from fabriclab.logs.nccl.records import TYPES

_SIZE = r"\d{1,40}\s+\d{1,40}\s+(?:" + "|".join(TYPES) + r")(?=\s|$)"


SIGN = re.compile(
    rf"^\s*(?:\S{{1,64}}\s+)?(?:{_SIZE}|#\s+nThread|# (?:nccl|rccl)-tests version|rccl-tests:"
    r" Version|# Collective test starting|#\s+size\s+count\b)"
)


_LABEL = re.compile(rf"^\s*(?:[\w.-]+: ?|\d{{4}}-\d\d-\d\dT\S+ )(?=\s*(?:#|{_SIZE}))")


_ROW = re.compile(rf"\s*(\d{{1,40}})\s+(\d{{1,40}})\s+({'|'.join(TYPES)})(?=\s|$)(.*)")


_ROW_INSIDE = re.compile(rf"(?<!\S){_SIZE}\s.*\d\.\d\d\b")


_RANK = re.compile(
    r"#\s+Rank\s+(\d{1,7})\s+(?:Group\s+(\d{1,7})\s+)?Pid\s+(\d{1,18})\s+on\s+(\S+)"
    r"\s+device\s+(\d{1,7})\s+\[([0-9a-fA-Fx:.]+)\]\s*(.*)"
)


_SETTINGS = re.compile(
    r"#\s+nThreads?:?\s+(\d{1,9})\s+nGpus:?\s+(\d{1,9})\s+minBytes:?\s+(\d{1,19})"
    r"\s+maxBytes:?\s+(\d{1,19})"
    r"\s+step:?\s+(\d{1,19})\((factor|bytes)\)(.*)"
)


_NAMED = re.compile(
    r"\b(all_reduce|all_gather|reduce_scatter|alltoall|broadcast"
    r"|reduce|sendrecv|gather|scatter|hypercube)_perf"
)


_OUT_OF_BOUNDS = re.compile(r"#\s+Out of bounds values\s*:\s*(\d{1,18})\s+(OK|FAILED)")


_AVERAGE = re.compile(
    r"#\s+Avg bus bandwidth\s*:\s*(\d+(?:\.\d+)?(?:e[+-]\d+)?)\s*(?:OK|FAILED)?\s*$"
)


_COMPLAINT = re.compile(
    r"\b(?:error|fail(?:ed|ure)|abort(?:ed)?|killed|signal|timed? ?out|terminated|core dumped)\b",
    re.I,
)


_EXTRA = ["i_min", "i_max", "i_p99", "i_cv%"]


_BLOCKS = [
    ["algbw", "busbw", check, *extra] for check in ("#wrong", "error") for extra in ([], _EXTRA)
]


@dataclass
class _Pending:
    """A row of which columns may still come."""

    number: int
    size: int
    count: int
    type: str
    tokens: list
    whole: bool


@dataclass(frozen=True)
class _Columns:
    """What a header names: the columns before the results, how many a measurement has, how many
    measurements.
    """

    lead: list
    width: int
    blocks: int
    check: str
    cpu_time: bool
