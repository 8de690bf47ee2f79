"""Exercises of level 4: pauses, headroom and deadlock."""

from fabriclab import congestion, deadlock
from fabriclab.course.behaviour.exercises.common import PER_METRE
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Choice, Option, Quantity
from fabriclab.course.engine.exercises.slips import BITS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import GB, KB, MB, Gbps, ms, si, us


def _headroom(x, ways=2, reaction=1, packets=1):
    return congestion.pfc_headroom(
        x.rate,
        ways * x.length * PER_METRE,
        packets * x.packet,
        response=reaction * x.reaction,
        mac_phy=0,
    )


def _response(x):
    return congestion.peer_response(x.rate)


def _cells(x, ways=2, response=1, cell=None):
    return congestion.pfc_headroom(
        x.rate,
        ways * x.length * PER_METRE,
        x.packet,
        response=response * _response(x),
        cell=x.cell if cell is None else cell,
    )


def _spread(x, excess):
    return congestion.pause_spread_time(x.hops, x.buffer, excess, x.trip)


def _stall(x, detection=1, timeout=1):
    return deadlock.watchdog(
        detection * x.detection, x.held, x.rate, timeout * x.timeout, x.flows, x.in_flight
    ).stall


EXERCISES = [
    Exercise(
        id="behaviour.headroom",
        title="Room for what is on its way",
        chinese="PFC 余量缓冲",
        numbers={
            "rate": pick(100, 200, 400, 800, unit=Gbps),
            "length": pick(50, 100, 200, 300),
            "reaction": pick(0.5, 1, 2, unit=us),
            "packet": pick(4200, 9216),
        },
        prompt=(
            "A lossless port of {rate:b/s} decides to pause its peer, {length} m of fibre"
            " away (5 ns a metre), which takes {reaction:s} to obey. Packets are up to "
            "{packet:,} bytes: one is just being sent before the PAUSE, and one the peer "
            "has begun will still come. How much must stay free in the buffer, for this "
            "port and priority?"
        ),
        kind=Quantity(
            _headroom,
            "size",
            tolerance=0.005,
            slips=(
                Slip(
                    "one way",
                    "you counted the cable one way; the PAUSE goes out, and what was on the cable"
                    " still comes in",
                    lambda x: _headroom(x, ways=1),
                ),
                Slip(
                    "forgot the packets",
                    "you left out the two packets that nobody can interrupt",
                    lambda x: _headroom(x, packets=0),
                ),
                Slip(
                    "forgot the reaction",
                    "you let the peer obey at once",
                    lambda x: _headroom(x, reaction=0),
                ),
                Slip(
                    BITS,
                    "you took the port's bits per second for bytes per second",
                    lambda x: 8 * _headroom(x, packets=0) + 2 * x.packet,
                ),
            ),
        ),
        hints=(
            (
                "From the decision to the last byte that still arrives: which times follow one"
                " another?"
            ),
            "Rate × (there + obey + back), and two packets on top.",
        ),
        moral=(
            "Times 64 ports and a few priorities, it is much of a switch's buffer, kept empty on"
            " purpose."
        ),
    ),
    Exercise(
        id="behaviour.cells",
        title="Headroom as the switch counts it",
        chinese="按缓存单元计算余量",
        numbers=lambda draw: {
            "rate": draw.pick("rate", (100, 200, 400)) * Gbps,
            "length": draw.pick("length", (40, 100, 200)),
            "cell": draw.pick("cell", (144, 208, 254)),
            "packet": draw.pick("packet", (4200, 9216)),
        },
        prompt=lambda x: (
            f"The same port as a switch sees it: {si(x.rate, 'b/s')}, {x.length} m (5 ns per"
            f" metre), packets of up to {x.packet:,} bytes. The standard lets the peer take"
            f" {si(_response(x), 's')} to obey, and the switch's own MAC holds 819.2 bytes more."
            f" The buffer is cut into cells of {x.cell} bytes, and what arrives may be packets"
            " of 64 bytes, each in a cell of its own; only the packet that the peer had begun is"
            " surely large. How many bytes must the switch set aside?"
        ),
        kind=Quantity(
            _cells,
            "size",
            tolerance=0.005,
            slips=(
                Slip(
                    "bytes for cells",
                    "you counted bytes; a packet of 64 bytes fills a whole cell",
                    lambda x: _cells(x, cell=1),
                ),
                Slip(
                    "one way",
                    "you counted the cable one way; what was on it when the PAUSE left still"
                    " comes in",
                    lambda x: _cells(x, ways=1),
                ),
                Slip(
                    "no response",
                    "you let the peer obey at once; the standard gives it its time",
                    lambda x: _cells(x, response=0),
                ),
                Slip(
                    "everything small",
                    "you counted the last packet in small cells too; it was begun as one piece",
                    lambda x: _cells(x) + x.packet * (congestion.cell_waste(x.cell) - 1),
                ),
            ),
        ),
        hints=(
            "First in bytes: cable there and back, the response, one packet of yours in the way,"
            " the MAC. How many cells does each byte of 64-byte packets fill?",
            "cell/64 × (rate × (cable + response) + packet + MAC) + packet.",
        ),
        moral="Headroom is paid in cells: for the same cable, up to four times as much.",
    ),
    Exercise(
        id="behaviour.spread",
        title="How fast a jam spreads",
        chinese="拥塞扩散",
        numbers={
            "hops": pick(3, 4, 5),
            "buffer": pick(16, 32, 64, unit=MB),
            "takes": pick(30, 35, 40, 45, unit=GB),
            "port": 400 * Gbps,
            "trip": pick(1, 2, 5, unit=us),
        },
        prompt=(
            "A slow receiver takes {takes:B/s} of its port's {port:b/s}. Switch after "
            "switch upstream fills its {buffer:B} with the excess, then sends a PAUSE "
            "that takes effect after {trip:s}. How long until {hops} switches have done "
            "so? The chapter says 10 to 50 ms; a PAUSE alone needs microseconds."
        ),
        kind=Quantity(
            lambda x: _spread(x, x.port - x.takes),
            "time",
            slips=(
                Slip(
                    "signal alone",
                    "you let the PAUSE travel through buffers that are full already",
                    lambda x: congestion.pause_signal_time(x.hops, x.trip),
                ),
                Slip(
                    "whole port in excess",
                    "you stopped the receiver altogether; it still takes its share",
                    lambda x: _spread(x, x.port),
                ),
                Slip(
                    "what it takes for the excess",
                    "you filled the buffers with what the receiver takes; what it does not take"
                    " stays",
                    lambda x: _spread(x, x.takes),
                ),
                Slip(
                    BITS,
                    "you took the port's bits per second for bytes per second",
                    lambda x: _spread(x, 8 * x.port - x.takes),
                ),
                Slip(
                    "one switch",
                    "you filled one switch; each must fill before it pauses the next",
                    lambda x: _spread(x, x.port - x.takes) / x.hops,
                ),
            ),
        ),
        hints=(
            "What arrives and is not taken piles up. At what rate?",
            "Fill one buffer, signal, fill the next: the same time for each switch.",
        ),
        moral="Milliseconds are buffers that fill; the faster the jam comes, the more has stopped.",
    ),
    Exercise(
        id="behaviour.cycle",
        title="Possible, or certain",
        chinese="循环缓冲区依赖与死锁",
        numbers={},
        prompt=(
            "Four lossless fabrics, and what is known of each. Which one is certainly "
            "deadlocked at this moment? The chapter's equation 1 says \"if and only if the"
            ' graph contains a cycle"; look at what it leaves out.'
        ),
        kind=Choice(
            (
                Option(
                    "A ring of four switches: every buffer is over its pause threshold, its first"
                    " packet bound for the next",
                    "Each waits for the next, and the last for the first: nobody can move, with or"
                    " without new traffic.",
                    right=True,
                    also=(
                        "A ring of four switches: each buffer is past its pause threshold, and"
                        " its head must enter the next one",
                    ),
                ),
                Option(
                    "A ring of four switches: each sends clockwise over two links, so the"
                    " dependency graph has a cycle, and traffic flows",
                    "A cycle makes a deadlock possible. While one buffer of it has room, its"
                    " packets move.",
                ),
                Option(
                    "A leaf-spine with up/down routes: one receiver has stopped, and every buffer"
                    " on the way to it is full",
                    "That is a storm. No circle: when the receiver takes packets again, the buffers"
                    " drain in order.",
                ),
                Option(
                    "A leaf-spine with up/down routes, into which 256 hosts send to one at full"
                    " rate, so that every leaf is paused",
                    "Incast pauses many and loses time, but up/down routes close no circle,"
                    " whatever the load.",
                ),
            )
        ),
        hints=(
            (
                "Ask of each: whom does the packet at the head of the line wait for, and whom does"
                " that one wait for?"
            ),
            "Necessary: a cycle. What else, for nobody to move?",
        ),
        moral=(
            'Of routes the "only if" is right: no cycle, no deadlock, ever. That is what a network'
            " can be designed for."
        ),
    ),
    Exercise(
        id="behaviour.loop",
        title="A loop that nobody leaves",
        chinese="瞬态路由环路与 TTL",
        numbers={
            "switches": pick(2, 3, 4),
            "ttl": pick(48, 64, 128, 255, name="TTL"),
            "rate": pick(100, 200, 400, 800, unit=Gbps),
        },
        prompt=(
            "While routes converge, {switches} switches forward a flow round and round, over "
            "cables of {rate:b/s}, one from each to the next. Each packet is forwarded {ttl} "
            "times and then dropped; nothing else is. At what rate may the flow come in, at "
            "most, before the loop fills and locks?"
        ),
        kind=Quantity(
            lambda x: deadlock.loop_limit(x.rate, x.switches, x.ttl),
            "rate",
            slips=(
                Slip(
                    "once round",
                    "you let each packet cross each cable once; it goes round until its TTL ends",
                    lambda x: x.rate,
                ),
                Slip(
                    "one cable",
                    "you put all crossings on one cable; the loop has more",
                    lambda x: x.rate / x.ttl,
                ),
                Slip(
                    "without TTL",
                    "you shared the rate among the switches; it is the crossings that share it",
                    lambda x: x.rate / x.switches,
                ),
            ),
        ),
        hints=(
            "How often does one packet cross one given cable?",
            "TTL over n times. All crossings of a cable together must fit its rate.",
        ),
        moral="A network that drops forgets a loop; one that does not is stopped by it.",
    ),
    Exercise(
        id="behaviour.watchdog",
        title="What the watchdog's cure costs",
        chinese="看门狗恢复",
        numbers={
            "detection": pick(100, 200, 400, unit=ms),
            "timeout": pick(8, 16, 33, 67, unit=ms),
            "rate": 400 * Gbps,
            "held": 1 * MB,
            "flows": pick(16, 32, 64),
            "in_flight": 250 * KB,
        },
        prompt=(
            "A ring of buffers has locked. The watchdog drops what a queue holds, "
            "{held:B} of {flows} flows, once it has stood paused for {detection:s}. The "
            "senders notice after a timeout of {timeout:s}, go back N, and send "
            "{in_flight:B} each again, over one port of {rate:b/s}. For how long does the"
            " step stall? Before you compute: which of the three decides?"
        ),
        kind=Quantity(
            _stall,
            "time",
            tolerance=0.005,
            slips=(
                Slip(
                    "sending alone",
                    "you counted the sending alone; long before it somebody waits",
                    lambda x: _stall(x, 0, 0),
                ),
                Slip(
                    "forgot the timeout",
                    "you let the senders know at once what the watchdog dropped",
                    lambda x: _stall(x, timeout=0),
                ),
                Slip(
                    "forgot the watchdog",
                    "you left out the time until the watchdog acts",
                    lambda x: _stall(x, detection=0),
                ),
            ),
        ),
        hints=(
            "Three waits follow one another.",
            "How long do all the bytes take that are sent again, at 50 GB/s?",
        ),
        moral=(
            "Sending again is lost beside the two waits. Whoever wants it shorter must notice"
            " sooner."
        ),
    ),
]
