"""The status of a transfer that failed, in NCCL's warnings, and what it means.

The codes are those of the verbs library (rdma-core, ``enum ibv_wc_status``); older versions of NCCL
print the number alone, newer ones the name beside it.
"""

import re
from collections.abc import Iterator

from fabriclab.logs.sign import Sign

_STATUS = re.compile(
    r"\bstatus ?= ?(?:IBV_WC_\w+ ?)?\(?(\d{1,2})\b|\berror (\d{1,2})\b|\b(IBV_WC_[A-Z_]+)"
)
NAMES = {
    "IBV_WC_LOC_LEN_ERR": 1,
    "IBV_WC_LOC_PROT_ERR": 4,
    "IBV_WC_WR_FLUSH_ERR": 5,
    "IBV_WC_REM_INV_REQ_ERR": 9,
    "IBV_WC_REM_ACCESS_ERR": 10,
    "IBV_WC_REM_OP_ERR": 11,
    "IBV_WC_RETRY_EXC_ERR": 12,
    "IBV_WC_RNR_RETRY_EXC_ERR": 13,
}
MEANING = {
    1: (
        "local length error: a message does not fit what the receiver posted; MTU or size differ"
        " between the ends"
    ),
    4: (
        "local protection error: memory registration, as with GPUDirect RDMA (nvidia_peermem,"
        " DMA-BUF), ACS or IOMMU; not the cable"
    ),
    5: "flushed: it follows another error on the same connection; look for the first",
    12: (
        "retries exceeded: the path to the peer loses or blocks packets (cable, routing, PFC, MTU),"
        " or the peer has died"
    ),
    13: "receiver not ready: the peer posts no buffers; its process hangs or is too slow",
}
_SHOWN = 3


def code_of(text: str) -> int | None:
    """The status that a warning carries, None where it has none.

    >>> code_of("NET/IB : Got completion from peer 10.0.0.1 with status=12 opcode=0")
    12
    >>> code_of("with status=IBV_WC_LOC_LEN_ERR(1) opcode=IBV_WC_RECV(128)")
    1
    """
    found = _STATUS.search(text)
    if not found:
        return None
    return NAMES.get(found[3]) if found[3] else int(found[1] or found[2])


def warning_signs(warnings: tuple) -> Iterator:
    """What NCCL warns of: each status once with its meaning, other warnings as they stand."""
    seen, others = {}, []
    for text in warnings:
        code = code_of(text)
        if code:
            seen.setdefault(code, text)
        else:
            others.append(text)
    for code, text in seen.items():
        says = f"NCCL gave up a transfer, status {code}"
        says += f", {MEANING[code]}" if code in MEANING else ""
        says = f"{says} ({text})"
        if code == 12:
            yield Sign("status-retry", says)
        elif code == 13:
            yield Sign("status-not-ready", says)
        elif code == 4:
            yield Sign("status-protection", says)
        elif code == 1:
            yield Sign("status-length", says)
        elif code == 5:
            yield Sign("status-flushed", says)
        else:
            yield Sign("status-other", says)
    for text in others[:_SHOWN]:
        if re.search(r"time(?:d )?-?out", text, re.I):
            yield Sign("status-retry", f"NCCL gave up a transfer after a time-out: {text}")
        else:
            yield Sign("nccl-warns", f"NCCL warns: {text}")
    if len(others) > _SHOWN:
        yield Sign("nccl-warns", f"NCCL warns of {len(others) - _SHOWN} more things")
