"""How NCCL reads each of its variables: what a value sets, and what it passes over in silence.

A reader is called with the value, what is `found` so far, which it changes, two functions that note
an effect or a doubt, and the node.
"""

import difflib
import re

from fabriclab.checks import each, instance

ALGORITHMS = ("Ring", "Tree", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT")
PROTOCOLS = ("LL", "LL128", "Simple")
MOST_CHANNELS = 64
_LEVELS = (
    "LOC",
    "NVL",
    "PIX",
    "PXB",
    "PHB",
    "SYS",
)  # the furthest that two GPUs may be apart to talk directly
_OLD_LEVELS = ("LOC", "PIX", "PXB", "PHB", "SYS", "SYS")  # as numbers, 0 to 5 and above
_NUMBER = re.compile(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", re.ASCII)
_DEBUG = ("VERSION", "WARN", "INFO", "ABORT", "TRACE")


def _whole(value, doubt):
    """The number that C's strtoll reads from the front of `value`, 0 where there is none; None
    where it is out of range.
    """
    match = _NUMBER.match(value)
    if not match or match.end() < len(value):
        doubt(
            f"is {value!r}, which NCCL reads as {match[0].strip() if match else 0} (the newest"
            " versions keep their default instead where there is no digit)"
        )
    if not match:
        return 0
    sign, digits = match.groups()
    number = (
        int(digits, 16 if digits[1:2] in ("x", "X") else 8 if digits[0] == "0" else 10)
        if len(digits) < 25
        else 2**63
    )
    if number >= 2**63:
        doubt(f"is {value[:30]!r}, which is out of range: NCCL keeps its default")
        return None
    return -number if sign == "-" else number


def chosen_hcas(value: str, hcas: tuple[str, ...]) -> tuple[str, ...]:
    """The adapters that NCCL_IB_HCA leaves of `hcas`: a list of prefixes, ``=`` in front for whole
    names, ``^`` for all but these.

    A port may follow a name (``mlx5_0:1``); ports are taken to be 1.

    >>> chosen_hcas("mlx5_1", ("mlx5_0", "mlx5_1", "mlx5_10")), chosen_hcas("^=mlx5_1",
    ...     ("mlx5_0", "mlx5_1", "mlx5_10"))
    (('mlx5_1', 'mlx5_10'), ('mlx5_0', 'mlx5_10'))
    """
    instance("value", value, str, "'mlx5_0,mlx5_1'")
    hcas = tuple(instance("hcas", hca, str, "'mlx5_0'") for hca in each("hcas", hcas))
    without, whole, names = _hca_filter(value)
    return (
        tuple(hca for hca in hcas if any(_matches(hca, name, whole) for name in names) != without)
        if names
        else tuple(hcas)
    )


def _hca_filter(value):
    """(all but these, whole names, [(name, port)]) that a value of NCCL_IB_HCA says."""
    without, whole = value.startswith("^"), value.lstrip("^").startswith("=")
    listed = value.removeprefix("^").removeprefix("=")
    return (
        without,
        whole,
        [tuple(part.strip().partition(":")[::2]) for part in listed.split(",") if part.strip()],
    )


def _matches(hca, name, whole):
    device, port = name
    return (hca == device if whole else hca.startswith(device)) and port in ("", "1")


def _hca(value, found, effect, doubt, node):
    without, whole, names = _hca_filter(value)
    chosen = chosen_hcas(value, node.hcas)
    for name, port in names:
        if name[:1] in "=^":
            doubt(
                f"has {name!r} inside the list: only in front of the whole value do ^ and = mean"
                " something, so this matches no adapter"
            )
        elif not any(_matches(hca, (name, port), whole) for hca in node.hcas):
            doubt(
                f"names {name}{':' + port if port else ''}, which this node has not: NCCL says"
                " nothing and goes on without"
            )
    if not whole and not without:
        for name, port in names:
            taken = [hca for hca in node.hcas if _matches(hca, (name, port), False)]
            if name in taken and len(taken) > 1:
                doubt(f"is a prefix: {name} takes {', '.join(taken)}; ={name} takes it alone")
    found["hcas"] = tuple(hca for hca in found["hcas"] if hca in chosen)
    effect(f"only {', '.join(chosen)}" if chosen else "no adapter is left")
    if not chosen:
        doubt("leaves no adapter: NCCL falls back to TCP sockets, and warns of nothing")
    elif len(chosen) < len(node.hcas):
        doubt(
            f"leaves {len(chosen)} of {len(node.hcas)} ports: all traffic to other nodes goes"
            f" through {'it' if len(chosen) == 1 else 'them'}"
        )


def _disable(value, found, effect, doubt, node):
    if _whole(value, doubt):
        found["hcas"], found["network"] = (), "Socket"
        effect("no InfiniBand and no RoCE: TCP sockets")
    else:
        effect("the default: InfiniBand or RoCE where there is one")


def _gid(value, found, effect, doubt, node):
    number = _whole(value, doubt)
    if number is None:
        return
    if number < 0:
        effect("NCCL finds the entry by itself, from 2.21 on")
    elif node.fabric == "RoCE":
        effect(
            f"entry {number} of the port's table of addresses; the model does not know what stands"
            " there, and a wrong one ends in time-outs or RoCE v1"
        )
    else:
        effect("no effect on InfiniBand; on RoCE it says which address, and with it v1 or v2")


def _topology(value, found, effect, doubt, node):
    effect(
        f"the node as {value!r} describes it; the model does not open it and keeps the node as"
        " found"
    )
    if not value.endswith(".xml"):
        doubt(
            f"is {value!r}, which does not look like an XML file: NCCL passes over a file that it"
            " cannot open"
        )


def _p2p(value, found, effect, doubt, node):
    level = _OLD_LEVELS[min(int(value[:2]), 5)] if value.isdecimal() else value
    if level not in _LEVELS:
        doubt(
            f"is {value!r}; NCCL knows {', '.join(_LEVELS)}, in capitals, passes over anything else"
            " and keeps its default"
        )
        return
    found["inside"] = "host memory" if level == "LOC" else "NVLink"
    effect(
        "GPUs of a node talk through host memory"
        if level == "LOC"
        else "GPUs of a node talk directly, over NVLink where there is one"
        + ("" if level == "NVL" else ", else over PCIe")
    )
    if level == "LOC":
        found["algorithms"] = tuple(
            name for name in found["algorithms"] if not name.startswith("NVLS")
        )


def _debug(value, found, effect, doubt, node):
    if value.upper() in _DEBUG:
        effect(
            "says more or less in its log; no effect on time"
            + (
                ""
                if value.upper() in ("INFO", "TRACE")
                else ", and too little to see the transport: INFO shows it"
            )
        )
    else:
        doubt(f"is {value!r}; NCCL knows {', '.join(_DEBUG)} and stays silent at anything else")


def _words(value, known, doubt):
    """The words of `known` that a list names, or all but those after ``^``; None where it names
    none.
    """
    without = value.startswith("^")
    named = [word.strip() for word in value.removeprefix("^").split(",") if word.strip()]
    meant = {word.lower() for word in named} & {word.lower() for word in known}
    for word in named:
        if word.lower() not in meant:
            near = difflib.get_close_matches(word.lower(), [k.lower() for k in known], n=1)
            hint = (
                f"; did you mean {next(k for k in known if k.lower() == near[0])}?" if near else ""
            )
            doubt(
                f"names {word!r}, which is none of {', '.join(known)}: older versions pass over it,"
                f" newer ones stop with an error{hint}"
            )
    if named and not meant and not without:
        doubt(
            "leaves NCCL nothing to choose from, and the first collective fails; the model goes on"
            " as if it were not set"
        )
    return tuple(word for word in known if (word.lower() in meant) != without) if meant else None


def _of_allreduce(value):
    """What a value says for AllReduce, in the newer form too: ``ring;allreduce:tree,ring``."""
    parts = [part.strip() for part in value.split(";") if part.strip()]
    special = [part.partition(":")[2] for part in parts if part.lower().startswith("allreduce:")]
    return special[-1] if special else next((part for part in parts if ":" not in part), "")


def _limit(value, found, effect, doubt, known, key):
    value = _of_allreduce(value)
    words = _words(value, known, doubt)
    if words is None:
        return
    left = tuple(word for word in words if word in found[key])
    for word in words:
        if word not in left and not value.startswith("^"):
            doubt(
                f"asks for {word}, which is not for an AllReduce"
                if word == "PAT"
                else f"asks for {word}, which this node or this model has not"
            )
    if left:
        found[key] = left
        effect(f"only {', '.join(left)}")
    else:
        doubt("leaves nothing that this model knows; it goes on as if it were not set")


def _algorithm(value, found, effect, doubt, node):
    _limit(value, found, effect, doubt, ALGORITHMS, "algorithms")


def _protocol(value, found, effect, doubt, node):
    _limit(value, found, effect, doubt, PROTOCOLS, "protocols")
    if "LL128" in found["protocols"] and value and not value.startswith("^") and "128" in value:
        doubt(
            "asks for LL128: where a link may tear a store of 128 bytes apart it gives wrong data,"
            " which is why NCCL turns it on by itself only where it is safe"
        )


def _channels(at):
    def read(value, found, effect, doubt, node):
        number = _whole(value, doubt)
        if number is None:
            return
        if not 1 <= number <= MOST_CHANNELS:
            doubt(f"is {number}; NCCL has 1 to {MOST_CHANNELS} channels")
        number = min(max(number, 1), MOST_CHANNELS)
        pair = list(found["channels"])
        pair[at] = number
        found["channels"] = tuple(pair)
        effect(
            f"{'at least' if at == 0 else 'at most'} {number} channel{'s' * (number != 1)}"
            + ("" if at == 0 else "; a channel leaves its node by one port")
        )

    return read


def _cross(value, found, effect, doubt, node):
    if value not in ("0", "1", "2"):
        doubt(f"is {value!r}; NCCL knows 0, 1 and 2")
        return
    words = {
        "0": "a ring enters and leaves a node on ports of one rail",
        "1": "a ring may enter and leave a node on different rails, over the spines",
        "2": "the default: one rail, where that costs nothing",
    }
    effect(words[value] + "; no effect while the spines carry all rails' traffic")


READERS = {
    "NCCL_DEBUG": _debug,
    "NCCL_IB_DISABLE": _disable,
    "NCCL_IB_HCA": _hca,
    "NCCL_IB_GID_INDEX": _gid,
    "NCCL_TOPO_FILE": _topology,
    "NCCL_P2P_LEVEL": _p2p,
    "NCCL_ALGO": _algorithm,
    "NCCL_PROTO": _protocol,
    "NCCL_MIN_NCHANNELS": _channels(0),
    "NCCL_MAX_NCHANNELS": _channels(1),
    "NCCL_CROSS_NIC": _cross,
}
