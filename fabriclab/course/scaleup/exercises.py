"""The exercises on scale-up: shares per peer, headers, planes, a port behind its host, which
fabric, what a product's number counts.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

from fabriclab import catalog, scaleup
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.kinds import Choice, Option, Ordering, Quantity
from fabriclab.course.engine.exercises.slips import BITS, BOTH_WAYS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import GB, KB, MB, TB, Gbps, plural, si

ETHERNET = 38  # bytes around what an Ethernet frame carries
OLD_PORT = {4: 200, 5: 400, 6: 800}  # Gb/s, which that generation's sixteen lanes still carry
LANES = {
    4: "16 GT/s per lane, 128b/130b, and a write carries 24 bytes beside its payload",
    5: "32 GT/s per lane, 128b/130b, and a write carries 24 bytes beside its payload",
    6: (
        "64 GT/s per lane, of 256 bytes of every flit 236 are for packets, and a write carries 16"
        " bytes beside its payload"
    ),
}


def _packed(k, s, c, H):
    return k * s / (ETHERNET + H + k * (s + c))


def _points(draw):
    # all long enough that Ethernet pads nothing
    return [
        {
            "k": 1 + i % 9,
            "s": 64 + int(900 * draw.share(f"s {i}")),
            "c": int(16 * draw.share(f"c {i}")),
            "H": (4, 20, 40, 44)[i % 4],
        }
        for i in range(12)
    ]


def _gain(x, host):
    old = OLD_PORT[x.generation] * Gbps
    return scaleup.behind_host(2 * old, host) / scaleup.behind_host(old, host)


def _bare(generation):
    """Bytes per second one way that the link has for packets, their own headers included."""
    return scaleup.pcie_rate(generation) * next(
        g.tlp_share for g in catalog.PCIE if g.version == generation
    )


def _times(x):
    """Seconds of the student's AllReduce on each of four fabrics."""
    of = {
        "NVLink": catalog.NVL72,
        "Ethernet": scaleup.overlaid(catalog.ETHERNET_512, x.planes),
        "PCIe": catalog.PCIE_64,
        "islands": catalog.NVL8,
    }
    return {name: scaleup.domain_allreduce(x.size, x.gpus, domain) for name, domain in of.items()}


EXERCISES = [
    Exercise(
        id="scaleup.peer",
        title="For each peer, or for each device",
        chinese="每对端与每设备带宽",
        numbers={
            "devices": pick(8, 36, 64, 72, 144),
            "both": pick(600, 900, 1200, 1800, 3600, unit=GB),
        },
        prompt=(
            "A data sheet gives each accelerator {both:B/s}, both directions together. "
            "{devices} of them sit on one non-blocking switched fabric, and each sends "
            "different data to all the others at the same time, evenly. How much does one"
            " of them send to one other?"
        ),
        kind=Quantity(
            lambda x: scaleup.peer_share(x.both / 2, x.devices),
            "rate",
            tolerance=0.002,
            slips=(
                Slip(
                    BOTH_WAYS,
                    "you counted what comes in with what goes out; half of a data sheet's number is"
                    " one way",
                    lambda x: scaleup.peer_share(x.both, x.devices),
                ),
                Slip(
                    "one too many",
                    "you shared among all devices; nobody sends to itself",
                    lambda x: x.both / 2 / x.devices,
                ),
                Slip(
                    "per device",
                    "you gave what a device sends to all others together",
                    lambda x: x.both / 2,
                ),
            ),
        ),
        hints=(
            "How much does one device send in all, one way?",
            "Among how many does it share that?",
        ),
        moral=(
            'Small as it is, the device still sends at its full rate: "2 GB/s per GPU" of a mesh of'
            " 64 is a share per peer."
        ),
    ),
    Exercise(
        id="scaleup.packing",
        title="One header for many",
        chinese="事务打包的载荷效率",
        numbers={},
        prompt=(
            "k transactions of s bytes each travel in one packet, every one with c bytes "
            "that say what it is. A packet has H bytes of headers inside Ethernet, and "
            "Ethernet adds 38 bytes of time on the wire around that. Which share of the "
            "time is data? Nothing is short enough to be padded. It says what a shorter "
            "header can win, and what packing can."
        ),
        kind=Formula(
            ("k", "s", "c", "H"),
            _packed,
            _points,
            slips=(
                (
                    "commands as data",
                    "you counted the commands as data",
                    lambda k, s, c, H: k * (s + c) / (ETHERNET + H + k * (s + c)),
                ),
                (
                    "a header each",
                    "you gave every transaction a packet of its own",
                    lambda k, s, c, H: s / (ETHERNET + H + s + c),
                ),
                (
                    "no Ethernet",
                    (
                        "you left Ethernet's 38 bytes out: preamble and gap are no bytes of the"
                        " frame, but time on the wire they are"
                    ),
                    lambda k, s, c, H: k * s / (H + k * (s + c)),
                ),
                (
                    "one command",
                    "you counted one command for all",
                    lambda k, s, c, H: k * s / (ETHERNET + H + k * s + c),
                ),
            ),
            answer=f"k*s/({ETHERNET:g} + H + k*(s + c))",
        ),
        hints=(
            "Write down what passes on the wire for one packet, field by field.",
            "Try k = 1, c = 0, s = 64, H = 4: 64 of 106.",
        ),
        moral=(
            "As k grows it tends to s/(s + c), whatever the header: packing wins more than any"
            " header does, and pays in waiting."
        ),
    ),
    Exercise(
        id="scaleup.planes",
        title="How many planes",
        chinese="多平面以太网",
        numbers={"both": pick(0.9, 1.8, 3.6, unit=TB), "port": pick(100, 200, 400, unit=Gbps)},
        prompt=(
            "An accelerator is to have as much from Ethernet as from an NVLink that its "
            "data sheet calls {both:B/s}, both directions. Every plane is one switch, "
            "with a port of {port:b/s} for each accelerator. How many planes does that "
            "take?"
        ),
        kind=Quantity(
            lambda x: float(scaleup.planes_to_match(x.both / 2, x.port)),
            "number",
            whole=True,
            tolerance=0.001,
            slips=(
                Slip(
                    BOTH_WAYS,
                    "you set both directions of NVLink against one of the port: a port of 200 Gb/s"
                    " sends 200 and receives 200",
                    lambda x: scaleup.planes_to_match(x.both, x.port),
                ),
                Slip(
                    BITS,
                    "you took bits for bytes on one of the two sides",
                    lambda x: x.both / 2 / (8 * x.port),
                ),
            ),
        ),
        hints=(
            "Which directions does each of the two numbers count?",
            "Bytes on one side, bits on the other.",
        ),
        moral=(
            "The text's 14.4 Tb/s over ports of 200 Gb/s looks like 72 planes; one way against one"
            " way it is 36."
        ),
    ),
    Exercise(
        id="scaleup.host",
        title="What twice the port gains",
        chinese="为什么 800G 没让训练更快",
        numbers={"generation": pick(4, 5, 6), "payload": pick(128, 256, 512)},
        prompt=lambda x: (
            f"A node's NICs of {OLD_PORT[x.generation]} Gb/s give way to NICs of twice that. Each"
            f" hangs on 16 lanes of PCIe {x.generation}: {LANES[x.generation]}. The maximum payload"
            f" is {x.payload} B; acknowledgements cost nothing here. How many times as fast does"
            " data reach the host?"
        ),
        kind=Quantity(
            lambda x: _gain(x, scaleup.payload_rate(x.generation, x.payload)),
            "number",
            tolerance=0.003,
            slips=(
                Slip(
                    "ports alone",
                    "you compared the ports; the slower of port and host link sets the pace",
                    lambda x: 2.0,
                ),
                Slip(
                    "no packets",
                    "you let the host link carry nothing but payload",
                    lambda x: _gain(x, _bare(x.generation)),
                ),
                Slip(
                    "signalling rate",
                    "you took the host link's signalling rate for what it carries",
                    lambda x: _gain(x, scaleup.pcie_rate(x.generation, coded=False)),
                ),
            ),
        ),
        hints=(
            "What can the host link carry, in bytes of payload per second, one way?",
            "The slower of port and link, before and after.",
        ),
        moral=(
            "A faster port behind the same host gains what the host link had left, 5 to 20 % at"
            " these payloads: ports and PCIe have to double together."
        ),
    ),
    Exercise(
        id="scaleup.order",
        title="Four fabrics for one group",
        chinese="三种方案选择矩阵",
        numbers={
            "gpus": pick(16, 64),
            "size": pick(64 * KB, 2 * MB, 64 * MB),
            "planes": pick(1, 4),
        },
        prompt=lambda x: (
            f"AllReduces of {si(x.size, 'B')} over {x.gpus} GPUs. A switched fabric runs"
            " Rabenseifner's algorithm, 2 log2(N) start-ups and 2(N-1)/N M on the wire; a PCIe"
            " tree only a ring, 2(N-1) start-ups and the same bytes. **NVLink**: one domain, 900"
            f" GB/s one way, 1 us. **Ethernet**: one domain, "
            f" {plural(x.planes, 'plane')} of 200 Gb/s, 1 us. **PCIe**: one tree, 63 GB/s, 1"
            " us a step. **islands**: NVLink domains of 8 at 450 GB/s and 0.7 us; between the two"
            " halves of an AllReduce inside them, one over the domains of M/8, on each GPU's own"
            " port of 50 GB/s, 1.5 us. Which order, by time?"
        ),
        kind=Ordering(_times, "fastest"),
        hints=(
            "For each fabric: how many start-ups, and how many microseconds of wire?",
            "At this size, which of the two is larger?",
        ),
        moral="The matrix asks how many GPUs and whose; a job asks how many bytes at a time.",
    ),
    Exercise(
        id="scaleup.dies",
        title="What the number in a name counts",
        chinese="裸片与封装",
        numbers={"gpus": pick(96, 100, 128), "size": pick(4, 16, 64, unit=MB)},
        prompt=(
            "A tensor-parallel group of {gpus} GPU packages exchanges AllReduces of "
            '{size:B}. The field guide\'s matrix has "up to 144 GPUs: NVLink 6, NVL144". '
            "What do you say to the team that wants to order one?"
        ),
        kind=Choice(
            (
                Option(
                    "One holds 72 packages: shrink the group to 72, or it crosses to a second"
                    " over the slow network",
                    "144 counts dies, two in a package, as NVIDIA named it in 2025; the group does"
                    " not fit, and what crosses goes from 1.8 TB/s one way to a port of 50 to 200"
                    " GB/s. (Reports of March 2026 call Rubin Ultra's rack of 144 packages Kyber"
                    " NVL144: ask which one is meant.)",
                    right=True,
                    also=(
                        "One holds 72 packages, and the rest would be behind a port of 200 GB/s"
                        " at most: shrink the group",
                    ),
                ),
                Option(
                    "Order one: 144 is more than enough for the group, and what is to spare can"
                    " stand in for a broken one",
                    "The number counts dies. There are 72 packages in it.",
                ),
                Option(
                    "Order two: then all packages are in one NVLink domain of 288, with 1.8 TB/s"
                    " one way for each",
                    "Two are two domains; between them is the scale-out network.",
                ),
                Option(
                    "Order an NVL72 instead: half the number, half the GPUs, and two of them are"
                    " 144 again",
                    "An NVL72 of the generation before also has 72 packages, of two dies each: its"
                    " name counts packages.",
                ),
            )
        ),
        hints=(
            (
                "Divide the rack's NVLink total, 260 TB/s in both directions, by 3.6 TB/s for each"
                " package."
            ),
        ),
        moral="Ask of every number in a product's name what it counts, and in which year.",
    ),
]
