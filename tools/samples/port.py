"""The text of mlxlink and perfquery: one port, from counts and rates."""

from fabriclab.units import Gbps, minute


def ratio(value):
    """A bit error ratio as the firmware prints it: one digit and a power of ten, 15E-255 for none.

    >>> ratio(2.2e-9), ratio(0.0), ratio(9.7e-6)
    ('2E-9', '15E-255', '1E-5')
    """
    if not value:
        return "15E-255"
    digit, power = f"{value:.0e}".split("e")
    return f"{digit}E-{-int(power)}"


def mlxlink(
    lane_errors,
    seconds,
    speed="IB-NDR",
    rate=425 * Gbps,
    effective_errors=0,
    link_downs=0,
    recoveries=0,
    recommendation="No issue was observed",
    colours=True,
):
    """The text that mlxlink -c prints for a port whose lanes saw `lane_errors` in `seconds` at a
    line `rate` in bytes per second.

    The raw and effective bit error ratios follow from errors, rate and time; `speed` is the name
    that is printed.

    >>> print(mlxlink([10, 20, 10, 10], 60.0, colours=False).splitlines()[-3])
    Raw Physical BER                   : 2E-12
    """
    bits = rate * 8 * seconds

    def coloured(text):
        return f"\x1b[32m{text}\x1b[0m" if colours else text

    def section(title, *fields):
        return ["", title, "-" * len(title), *(f"{name:<35}: {value}" for name, value in fields)]

    lines = [
        *section(
            "Operational Info",
            ("State", coloured("Active")),
            ("Physical state", coloured("LinkUp")),
            ("Speed", coloured(speed)),
            ("Width", coloured(f"{len(lane_errors)}x")),
            ("FEC", coloured("Standard_RS-FEC - (544,514)")),
            ("Loopback Mode", coloured("No Loopback")),
            ("Auto Negotiation", coloured("ON")),
        ),
        *section(
            "Troubleshooting Info",
            ("Status Opcode", "0"),
            ("Group Opcode", "N/A"),
            ("Recommendation", recommendation),
        ),
        *section(
            "Physical Counters and BER Info",
            ("Time Since Last Clear [Min]", f"{seconds / minute:.1f}"),
            ("Symbol Errors", effective_errors),
            ("Symbol BER", coloured(ratio(effective_errors / bits))),
            ("Effective Physical Errors", effective_errors),
            ("Effective Physical BER", coloured(ratio(effective_errors / bits))),
            ("Raw Physical Errors Per Lane", ",".join(str(errors) for errors in lane_errors)),
            ("Raw Physical BER", coloured(ratio(sum(lane_errors) / bits))),
            ("Link Down Counter", link_downs),
            ("Link Error Recovery Counter", recoveries),
        ),
    ]
    return "\n".join(lines) + "\n"


def perfquery(lid, port, counters, extended=True):
    """The text that perfquery prints for a port: `counters` by name, as they are counted (data in
    words of 4 bytes).

    >>> print(perfquery(41, 1, {"PortXmitData": 12_050_000_000}), end="")
    # Port extended counters: Lid 41 port 1 (CapMask: 0x5A00 CapMask2: 0x0000002)
    PortSelect:......................1
    CounterSelect:...................0x0000
    PortXmitData:....................12050000000
    """
    lines = [
        f"# Port {'extended ' * extended}counters: Lid {lid} port {port} (CapMask:"
        f" 0x5A00{' CapMask2: 0x0000002' * extended})"
    ]
    fields = {"PortSelect": port, "CounterSelect": "0x0000", **counters}
    return (
        "\n".join([*lines, *(f"{counter + ':':.<33}{value}" for counter, value in fields.items())])
        + "\n"
    )
