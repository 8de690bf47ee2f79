"""Files of pairs of our own making, in the layouts that `table` reads, and the report of one that
was read.
"""

from collections.abc import Iterator

import numpy as np

from fabriclab import topology
from fabriclab.logs.pairs.model import measure
from fabriclab.logs.pairs.records import Pairs, Part
from fabriclab.logs.pairs.suspects import explain
from fabriclab.logs.pairs.table import TOOL, Reading
from fabriclab.logs.pairs.verdict import Verdict
from fabriclab.logs.perftest.judge import GOOD
from fabriclab.logs.sign import Sign, marked
from fabriclab.units import UNITS, si

_COLDEST = 3


def _checked(pairs, unit):
    if not isinstance(pairs, Pairs):
        raise ValueError(f"pairs must be Pairs, not {pairs!r:.60}")
    if UNITS.get(unit, ("", 0))[0] != "rate" or unit.startswith(("MB", "KB", "kB")):
        raise ValueError(
            f"unit must be a rate that is one thing, such as Gb/s, GB/s or MiB/s, not {unit!r:.40}"
        )
    return UNITS[unit][1]


def as_matrix(pairs: Pairs, unit: str = "Gb/s") -> str:
    """The text of `pairs` as a matrix in `unit`, row sends to column, empty where not measured.

    Raises ValueError for pairs measured over several spines, which only a list holds.

    >>> print(as_matrix(Pairs(("a", "b"), [0], [1], [48e9])), end="")
    # all-pairs bandwidth, row sends to column
    source\\target [Gb/s],a,b
    a,,384.00
    b,,
    """
    scale = _checked(pairs, unit)
    if pairs.via is not None:
        raise ValueError("pairs must be without pinned paths in a matrix: as_list keeps them")
    rows = [
        ",".join([host, *("" if np.isnan(cell) else f"{cell / scale:.2f}" for cell in row)])
        for host, row in zip(pairs.hosts, pairs.matrix)
    ]
    return (
        "\n".join(
            [
                "# all-pairs bandwidth, row sends to column",
                f"source\\target [{unit}],{','.join(pairs.hosts)}",
                *rows,
            ]
        )
        + "\n"
    )


def as_list(pairs: Pairs, unit: str = "Gb/s") -> str:
    """The text of `pairs` as a list in `unit`, with the spine where paths were pinned.

    >>> print(as_list(Pairs(("a", "b"), [0], [1], [48e9], ("spine-1",), [0])), end="")
    source,target,bandwidth [Gb/s],spine
    a,b,384.00,spine-1
    """
    scale = _checked(pairs, unit)
    rows = [f"source,target,bandwidth [{unit}]" + ",spine" * (pairs.via is not None)]
    for at in range(len(pairs)):
        source, target = pairs.hosts[pairs.source[at]], pairs.hosts[pairs.target[at]]
        row = f"{source},{target},{pairs.bandwidth[at] / scale:.2f}"
        rows.append(
            row
            if pairs.via is None
            else f"{row},{pairs.spines[pairs.via[at]] if pairs.via[at] >= 0 else ''}"
        )
    return "\n".join(rows) + "\n"


def shipped() -> dict[str, str]:
    """The files of pairs among ``notebooks/logs``: 16 hosts with one that receives at half rate; 32
    hosts with one spine at half.
    """
    small, large = topology.leaf_spine(4, 2, 4, 4), topology.leaf_spine(4, 4, 8, 8)
    return {
        "all_pairs_16_hosts.csv": as_matrix(
            measure(small, {Part("host", "host-06", way="in"): 0.5}, seed=61)
        ),
        "all_pairs_32_hosts.csv": as_matrix(
            measure(large, {Part("spine", "spine-3"): 0.5}, seed=62)
        ),
        "all_pairs_pinned.csv": as_list(
            measure(large, {Part("spine", "spine-3"): 0.5}, seed=63, pairs=96, pinned=True)
        ),
    }


def verdict_of(reading: Reading, fabrics: list | tuple = ()) -> Verdict:
    """What explains the cold cells: with the first of `fabrics` that knows the hosts, else without
    the wiring.
    """
    for fabric in fabrics:
        try:
            return explain(reading, fabric)
        except ValueError:  # hosts that the fabric names otherwise
            continue
    return explain(reading)


def signs(reading: Reading, rate: float | None = None, fabrics: list | tuple = ()) -> Iterator:
    """What stands out among the pairs. `rate`: bytes per second that a port should carry, where it
    is known; `fabrics` as read beside it, in which switches can be named.
    """
    verdict, bandwidth = verdict_of(reading, fabrics), reading.pairs.bandwidth
    cold = bool(verdict.findings or verdict.unexplained.size)
    for line in verdict.lines[:3] if verdict.findings else ():
        if verdict.alike:
            yield Sign("cold-alike", line)
        else:
            yield Sign("cold-part", line)
    if verdict.unexplained.size and verdict.wired:
        yield Sign(
            "cold-scattered",
            f"{verdict.unexplained.size} cold pairs that no one part explains: collisions, or a"
            " load that comes and goes",
        )
    elif verdict.unexplained.size:
        yield Sign(
            "cold-unexplained",
            f"{verdict.unexplained.size} cold pairs that no one host explains; with ibnetdiscover"
            " beside it, leaves and spines are looked at",
        )
    if rate and not reading.guessed and verdict.level < GOOD * rate:
        yield Sign(
            "pair-low",
            f"even a usual pair reaches {si(verdict.level, 'B/s')}, {verdict.level / rate:.0%} of"
            f" the port's {si(rate, 'b/s')}",
        )
    elif cold:
        yield Sign(
            "pair-low",
            f"the coldest pair reaches {si(float(bandwidth.min()), 'B/s')}, a usual one"
            f" {si(verdict.level, 'B/s')}",
        )
    elif not verdict.healthy:
        yield Sign("pairs-unclear", verdict.lines[0])


def report(reading: Reading) -> str:
    """The few lines that ``fabriclab read`` prints for a file of pairs.

    Without the wiring only hosts can be named.
    """
    pairs, bandwidth = reading.pairs, reading.pairs.bandwidth
    said = [f"{TOOL}, a {reading.layout} in {reading.unit}: {pairs!r}"]
    if reading.guessed:
        said.append(
            f"  no unit is named: {reading.unit} is taken for granted"
            + (", as perftest prints it" if reading.unit == "MiB/s" else "")
            + "; only ratios count"
        )
    spread = np.quantile(bandwidth, (0, 0.5, 1))
    said.append(
        f"  median {si(spread[1], 'B/s')} ({si(spread[1], 'b/s')}), least {si(spread[0], 'B/s')},"
        f" most {si(spread[2], 'B/s')}; rows send to columns"
    )
    verdict = explain(pairs)
    for words, ends in (("senders", pairs.source), ("receivers", pairs.target)):
        medians = sorted(
            (float(np.median(bandwidth[ends == at])), pairs.hosts[at]) for at in np.unique(ends)
        )
        said.append(
            f"  coldest {words}, by median: "
            + ", ".join(f"{host} {si(median, 'B/s')}" for median, host in medians[:_COLDEST])
        )
    found = marked(signs(reading))
    return "\n".join([*said, *(found or [f"  {line}" for line in verdict.lines])])
