"""Tools that are known, but not read here: named, with what to look at."""

import re

from fabriclab.logs.source import Part

TOOL = "known, but not read here"
_KNOWN = (  # (sign, name, what to look at)
    (
        r"^-[IWE]- (?:Lid Manager|Load|Discovering|Nodes|Fabric|Links|Stage|.{0,80}(?:check|Check))"
        r"|^(?:Load Plugins from|Running version:\s+\"IBDIAGNET)|.{0,40}\bIBDIAGNET ",
        "ibdiagnet",
        "its lines of -E-, and the tables of BER, symbol errors and FEC in ibdiagnet2.net_dump_ext",
    ),
    (
        r"^# OSU [\w -]*MPI",
        "OSU micro-benchmark",
        "its largest message: MB/s are 10^6 bytes per second, and -bibw sums both directions",
    ),
    (
        r"^#\s+Intel\(R\) MPI Benchmarks|^# Benchmarking \w+",
        "Intel MPI Benchmarks",
        "t_max against t_min: far apart means that one rank waits for another",
    ),
    (
        r"^\|.*\bucx_perftest\b|^\| (?:Test|API):\s+\w+|^\|\s+Stage\s+\|\s+# iterations",
        "ucx_perftest",
        "the overall column; bandwidths are MB/s of 2^20 bytes",
    ),
    (
        r"^\[ *(?:ID|\d+)\]\s+(?:Interval\s+Transfer|local \S+ port)|^iperf3? \d",
        "iperf",
        "Retr of the sender: it measures TCP through the kernel, not RDMA",
    ),
    (
        r"^nvbandwidth Version|^Running (?:host|device|all)_\w*(?:memcpy|read|write|latency)\w*\b",
        "nvbandwidth",
        "host to device per GPU against the PCIe link (Gen5 x16: some 55 GB/s), and the SUM line",
    ),
    (
        r"^(?:NCCL version \S+ compiled with CUDA.*ncclras|Job summary\s*$|Communicators\.\.\.)",
        "ncclras",
        "the ranks it lists as not responding, or behind the others in the count of operations",
    ),
    (
        r".{0,120}\bNVRM: Xid\b|.{0,120}\bXid \(PCI:[0-9a-fA-F:.]+\):",
        "Xid lines of the NVIDIA driver",
        "the number: 74 is NVLink, 79 the GPU off the bus, 48, 63, 64, 94 and 95 memory errors,"
        " 13, 31 and 43 mostly the program",
    ),
    (
        r"^qperf|^(?:rdma|rc|uc|ud|tcp|udp)_(?:\w+_)?(?:bw|lat):\s*$",
        "qperf",
        "bw and msg_rate; it times one connection",
    ),
    (
        r"^show_gids|^DEV\s+PORT\s+INDEX\s+GID",
        "show_gids",
        "that the GID index in use is RoCE v2 and has an IPv4 address on every host",
    ),
    (
        r"^\| NVIDIA-SMI \d|^=+NVSMI LOG=+",
        "nvidia-smi",
        "GPU-Util over time, which one picture does not tell: nvidia-smi dmon",
    ),
    (
        r"^(?:DCBX mode:|Priority trust state:|PFC configuration:)",
        "mlnx_qos",
        "the one priority that is enabled under PFC: the same on every host and switch, trust dscp"
        " on both ends, and a buffer of its own",
    ),
    (
        r"^Settings for \S+:\s*$",
        "ethtool",
        "Speed and Lanes against what the port was bought for; ethtool -S has the counters",
    ),
    (
        r"^\d+: \S+: <[A-Z0-9_,-]+> mtu \d",
        "ip link",
        "mtu, the same along the whole path, and errors and dropped with -s",
    ),
    (
        r"^\s*IFACE\s+STATE\s+RX_OK\s",
        "show interfaces counters (SONiC)",
        "RX_DRP and TX_DRP of lossless ports, and then show pfc counters, which is read here",
    ),
    (
        r"^Linux \d\S* \(\S+\)\s.*CPU\)\s*$|^\S+(?: [AP]M)?\s+IFACE\s+rxpck/s",
        "sar",
        "rxkB/s and txkB/s: what passes the kernel; RDMA does not show there",
    ),
    (
        r"^From (?:ca|switch|router) \{0x[0-9a-f]+\} portnum|^From ca \S+ port",
        "ibtracert",
        "the switches of the path, one line each: the same path for all tells that nothing is"
        " spread",
    ),
    (
        r"^Device #\d+:\s*$|^Configurations:\s+(?:Default\s+Current|Next Boot)",
        "mlxconfig",
        "LINK_TYPE, PCI_WR_ORDERING and ATS_ENABLED, the same on every host",
    ),
)
SIGN = re.compile("|".join(f"(?:{sign})" for sign, _, _ in _KNOWN))


def told(part: Part) -> str:
    """What `part` is, and what to look at, in a sentence."""
    begins = next((line for line in part if SIGN.match(line.text)), None)
    for sign, tool, look in _KNOWN:
        if begins and re.match(sign, begins.text):
            return f"line {part.line}: {tool}'s output, not read here; look at {look}"
    return f"line {part.line}: {TOOL}"
