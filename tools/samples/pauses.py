"""The text of SONiC's show pfc counters and show pfcwd stats, and of ethtool's statistics, from
counts.
"""


def pfc_counters(rx, tx):
    """The two tables of ``show pfc counters`` for {port: eight counts}, frames received and sent by
    priority.

    >>> print(pfc_counters({"Ethernet0": [0, 0, 0, 1420, 0, 0, 0, 0]}, {}).splitlines()[2].split())
    ['Ethernet0', '0', '0', '0', '1,420', '0', '0', '0', '0']
    """

    def table(way, ports):
        head = f"{'Port ' + way:>12}" + "".join(
            f"  {f'PFC{priority}':>11}" for priority in range(8)
        )
        rows = [
            f"{port:>12}" + "".join(f"  {count:>11,}" for count in counts)
            for port, counts in ports.items()
        ]
        return [head, "  ".join(["-" * 12] + ["-" * 11] * 8), *rows]

    return "\n".join([*table("Rx", rx), "", *table("Tx", tx)]) + "\n"


def pfcwd_stats(queues):
    """The table of ``show pfcwd stats`` for {queue: (stormed, detected, restored, sent, sent
    dropped, received, received dropped)}.

    >>> print(pfcwd_stats({"Ethernet0:3": (True, 4, 3, 100, 300, 90, 0)}).splitlines()[-1].split())
    ['Ethernet0:3', 'stormed', '4/3', '100/300', '90/0', '0/0', '0/0']
    """
    heads = (
        "QUEUE",
        "STATUS",
        "STORM DETECTED/RESTORED",
        "TX OK/DROP",
        "RX OK/DROP",
        "TX LAST OK/DROP",
        "RX LAST OK/DROP",
    )
    widths = (15, 11, 25, 22, 22, 17, 17)
    rows = [heads, tuple("-" * width for width in widths)]
    for queue, (
        stormed,
        detected,
        restored,
        sent,
        sent_dropped,
        received,
        received_dropped,
    ) in queues.items():
        pairs = (
            f"{detected}/{restored}",
            f"{sent}/{sent_dropped}",
            f"{received}/{received_dropped}",
            "0/0",
            "0/0",
        )
        rows.append((queue, "stormed" if stormed else "operational", *pairs))
    return (
        "\n".join("  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths)) for row in rows)
        + "\n"
    )


def ethtool(counters):
    """The listing of ``ethtool -S`` for counters by name.

    >>> print(ethtool({"rx_prio3_pause": 142}), end="")
    NIC statistics:
         rx_prio3_pause: 142
    """
    return (
        "\n".join(
            [
                "NIC statistics:",
                *(f"     {counter}: {value}" for counter, value in counters.items()),
            ]
        )
        + "\n"
    )
