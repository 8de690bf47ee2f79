"""Counters of an RDMA device: ``rdma statistic``, and the files under ``ports/1/hw_counters`` and
``ports/1/counters`` as ``grep -r .`` prints them.

The layouts, in our words. rdma statistic: a line per port, "link mlx5_0/1" and then names and
counts in turn; with -p each pair on a line of its own. grep: the file's path, a colon, the count.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabriclab.logs.sign import Sign, marked
from fabriclab.logs.source import Part, lines, name, refuse, shorten

TOOL = "RDMA counters"
SIGN = re.compile(
    r"^\s*link \w[\w.-]{0,60}/\d{1,3}(?:\s+[a-z]\w*\s+\d+|\s*$)"
    r"|^(?:/\S{0,200}/)?\w[\w.-]{0,60}/ports/\d{1,3}/(?:hw_)?counters/\w+:"
    r"|^(?:\S{1,200}/)?hw_counters/\w+:\s*\d"
)
_LINK = re.compile(r"\s*link (\w[\w.-]{0,60}/\d{1,3})\b(.*)")
_FILE = re.compile(
    r"(?:\S{0,200}?/)?(?:(\w[\w.-]{0,60})/ports/(\d{1,3})/)?(?:hw_)?counters/(\w{1,60}):\s*(\S+)\s*"
)
_PAIRS = re.compile(r"(?:\s+([a-z]\w{0,60})\s+(\d{1,20}))+\s*")
_PAIR = re.compile(r"([a-z]\w{0,60})\s+(\d{1,20})")
MEANING = {  # counter: (sign, what it means); Mellanox' list of RDMA counters, and bnxt_re's
    "local_ack_timeout_err": ("retry", "no answer came in time: the path loses or blocks packets"),
    "roce_adp_retrans": ("retry", "packets were sent again"),
    "roce_adp_retrans_to": ("retry", "a transmission was repeated after a timeout"),
    "to_retransmits": ("retry", "sent again after a timeout"),
    "seq_err_naks_rcvd": ("loss", "the far end missed packets"),
    "packet_seq_err": ("loss", "the far end asked for packets it had missed"),
    "out_of_sequence": ("loss", "packets arrived out of order: lost before, or taken several ways"),
    "implied_nak_seq_err": ("loss", "an answer to a read or atomic was missing"),
    "missing_resp": ("loss", "an answer was missing"),
    "rx_icrc_encapsulated": ("damage", "RoCE packets arrived damaged"),
    "rnr_nak_retry_err": ("receiver", "the receiver was not ready, and retries ran out"),
    "out_of_buffer": ("receiver", "no receive was posted: the receiving process is slow"),
    "rnr_naks_rcvd": ("receiver", "the receiver was not ready"),
    "req_cqe_error": ("work", "requests that ended with an error"),
    "resp_cqe_error": ("work", "answers that ended with an error"),
    "resp_local_length_error": ("work", "a message longer than the buffer for it"),
    "req_remote_access_errors": ("work", "memory at the far end that may not be reached"),
    "resp_remote_access_errors": ("work", "memory here that may not be reached"),
    "max_retry_exceeded": ("retry", "retries ran out: the connection was closed"),
    "unrecoverable_err": ("work", "connections that ended with an error"),
    "np_ecn_marked_roce_packets": ("marked", "packets arrived marked: a queue on the way is full"),
    "np_cnp_sent": ("marked", "senders were asked to slow down"),
    "rp_cnp_handled": ("marked", "we were asked to slow down, and did"),
    "rx_cnp_pkts": ("marked", "we were asked to slow down"),
    "rx_ecn_marked_pkts": ("marked", "packets arrived marked: a queue on the way is full"),
    "symbol_error": ("damage", "single errors on the cable"),
    "port_rcv_errors": ("damage", "packets arrived damaged"),
    "local_link_integrity_errors": ("damage", "the link had errors beyond its threshold"),
    "link_downed": ("down", "the link went down"),
    "link_error_recovery": ("down", "the link recovered from errors"),
    "port_xmit_discards": ("discard", "packets thrown away unsent"),
    "excessive_buffer_overrun_errors": ("discard", "the sender ran over this port's buffer"),
}
_SIGN_OF = {  # the gravest first
    "damage": lambda says: Sign("rdma-damage", says),
    "down": lambda says: Sign("rdma-down", says),
    "retry": lambda says: Sign("rdma-retry", says),
    "loss": lambda says: Sign("rdma-loss", says),
    "discard": lambda says: Sign("rdma-discard", says),
    "receiver": lambda says: Sign("rdma-receiver", says),
    "work": lambda says: Sign("rdma-work", says),
    "marked": lambda says: Sign("rdma-marked", says),
}


@dataclass(frozen=True)
class Port:
    """One port: its first `line`, its name as printed ("mlx5_0/1"), its `counters` by name."""

    line: int
    name: str
    counters: tuple[tuple[str, int], ...]

    def count(self, counter):
        """The count, None where it was not printed."""
        return dict(self.counters).get(counter)


@dataclass(frozen=True)
class Reading:
    """The ports in the order of the text."""

    path: str
    ports: tuple[Port, ...]

    tool = TOOL


def read(path: Part) -> "Reading":
    """A `Reading` of RDMA counters at `path`.

    Raises ValueError naming file, line and reason for a value that is not a count, a line that is
    cut, and a listing without a count.
    """
    ports, last, now = {}, 0, None

    def keep(port, counter, value):
        ports.setdefault(port, (last, {}))[1][counter] = int(value)

    for line in lines(path):
        last, text = line.number, line.text[:16_000]
        if found := _LINK.match(text):
            now, rest = found[1], found[2]
            if rest.strip() and not _PAIRS.fullmatch(rest) and not _cut(rest):
                refuse(path, last, f"not names and counts in turn: {shorten(rest)}")
        elif found := _FILE.fullmatch(text):
            now = None
            if not re.fullmatch(r"\d{1,20}", found[4]) or not line.whole:
                refuse(path, last, f"{found[3]} is {shorten(found[4])}: not a count, or cut")
            keep(f"{found[1] or 'a port not named'}/{found[2] or 1}", found[3], found[4])
            continue
        elif now and _PAIRS.fullmatch(" " + text):
            rest = text
        else:
            now = None if text.strip() else now
            continue
        pairs = _PAIR.findall(rest)
        if not line.whole and pairs:
            pairs.pop()
        for counter, value in pairs:
            keep(now, counter, value)
    if not ports:
        refuse(path, max(last, 1), "no counter in it: missing data is not zero")
    return Reading(
        name(path),
        tuple(Port(at, port, tuple(found.items())) for port, (at, found) in ports.items()),
    )


def _cut(rest):
    """Whether a line is pairs up to a last one that lost its count, as copied from a terminal."""
    return bool(re.fullmatch(r"(?:\s+[a-z]\w*\s+\d+)+\s+[a-z]\w*\s*(?:\.\.\.|…)?\s*", rest))


def signs(reading: "Reading", rate: float | None = None) -> Iterator:
    """What stands out, the gravest kind first; counts since the driver was loaded."""
    for kind, sign in _SIGN_OF.items():
        for port in reading.ports:
            for counter, value in port.counters:
                if value and MEANING.get(counter, ("", ""))[0] == kind:
                    yield sign(f"{port.name}: {counter} {value:,}: {MEANING[counter][1]}")


def report(reading: "Reading") -> str:
    """The few lines that ``fabriclab read`` prints for RDMA counters."""
    count = len(reading.ports)
    quiet = [port.name for port in reading.ports if not any(value for _, value in port.counters)]
    said = [f"{TOOL}: {count} port{'s' * (count != 1)}, counts since the driver was loaded"]
    if quiet:
        said.append(f"  all zero: {', '.join(quiet[:8])}{' …' * (len(quiet) > 8)}")
    found = list(signs(reading))
    said += marked(found[:24])
    if len(found) > 24:
        said.append(f"  ! … and {len(found) - 24} more")
    if not found:
        said.append("  no error counted")
    return "\n".join([*said, "  a second reading tells whether they grow"])
