"""PyTorch's watchdog over NCCL: which collective did not end, on which ranks, after how long.

The layout, in our words. A line of ProcessGroupNCCL.cpp names the rank, then WorkNCCL(SeqNum=…,
OpType=…, NumelIn=…, NumelOut=…, Timeout(ms)=…) and for how many milliseconds it ran; another line
names the last work that was enqueued, and the last that was completed, as sequence numbers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabriclab.logs.sign import Sign
from fabriclab.units import ms, si

SIGN = r"\bProcessGroupNCCL\.cpp:\d|\bWorkNCCL\("
_RANK = re.compile(r"\b[Rr]ank ?(\d{1,7})\b")
_WORK = re.compile(r"WorkNCCL\((?:[\w ]+=[^,()]*, ?)*?SeqNum=(\d{1,18}), OpType=(\w{1,40})([^()]*)")
_RAN = re.compile(r"ran for (\d{1,12}) milliseconds")
_TIMEOUT = re.compile(r"Timeout\(ms\)=(\d{1,12})")
_LAST = re.compile(r"last enqueued work: (-?\d{1,18}), last completed work: (-?\d{1,18})")
_MOST = 100_000


@dataclass(frozen=True)
class Timeout:
    """One collective that did not end: on which `rank` (None where not printed), its `sequence`
    number, its kind (`collective`, as printed: "ALLREDUCE"), and the seconds it `ran`.
    """

    rank: int | None
    sequence: int
    collective: str
    ran: float | None


class Gatherer:
    """Takes the watchdog's lines as they come."""

    def __init__(self):
        self.timeouts, self.last, self.lines = {}, {}, 0

    def take(self, text):
        """Whether `text` is a line of the watchdog's; what it says is noted."""
        if "NCCL" not in text or not re.search(SIGN, text):
            return False
        self.lines += 1
        found = _RANK.search(text)
        rank = int(found[1]) if found else None
        work, ran, last = _WORK.search(text), _RAN.search(text), _LAST.search(text)
        timed_out = ran or "imeout" in text.partition("WorkNCCL")[0]
        if work and timed_out and len(self.timeouts) < _MOST:
            limit = _TIMEOUT.search(text)
            took = ran or limit
            one = Timeout(rank, int(work[1]), work[2], int(took[1]) * ms if took else None)
            self.timeouts.setdefault((rank, one.sequence, one.collective), one)
        if last and rank is not None and len(self.last) < _MOST:
            self.last[rank] = (int(last[1]), int(last[2]))
        return True


def signs(timeouts: tuple[Timeout, ...], last: dict) -> Iterator:
    """What stands out: collectives that did not end, ranks that wait in different ones, the ranks
    that are behind.
    """
    by = {}
    for one in timeouts:
        by.setdefault((one.sequence, one.collective), []).append(one)
    for (sequence, collective), ones in list(by.items())[:4]:
        ranks = sorted(one.rank for one in ones if one.rank is not None)
        ran = max((one.ran for one in ones if one.ran), default=None)
        yield Sign(
            "collective-timeout",
            f"{collective}, sequence number {sequence}, did not end"
            + (f" in {si(ran, 's')}" if ran else "")
            + (f" on rank{'s' * (len(ranks) != 1)} {_listed(ranks)}" if ranks else "")
            + ": a rank that is not named never came to it, or died, or the network lost it; look"
            " at that rank first, and for the first NCCL WARN",
        )
    if len(by) > 1:
        where = "; ".join(
            f"{collective} {sequence} on {_listed(sorted(one.rank or 0 for one in ones))}"
            for (sequence, collective), ones in list(by.items())[:4]
        )
        yield Sign(
            "collectives-differ",
            f"ranks wait in different collectives ({where}): the program's ranks have parted, as in"
            " a branch that not all take",
        )
    done = {rank: completed for rank, (_, completed) in last.items()}
    if len(set(done.values())) > 1:
        least = min(done.values())
        behind = [rank for rank, completed in done.items() if completed == least]
        yield Sign(
            "ranks-behind",
            f"rank{'s' * (len(behind) != 1)} {_listed(sorted(behind))} completed work {least}, the"
            f" furthest {max(done.values())}",
        )


def _listed(ranks):
    shown = ", ".join(map(str, ranks[:8]))
    return f"{shown} and {len(ranks) - 8} more" if len(ranks) > 8 else shown
