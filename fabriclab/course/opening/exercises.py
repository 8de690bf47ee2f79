"""The exercises on the opening: the gradient, the bandwidth cliff, a step's timeline, the workload
inversion.

The lists numbers are drawn from are part of what students were given: add exercises, but do not
change these lists.
"""

from fabriclab import collectives
from fabriclab.catalog import ACCELERATORS, link_rate
from fabriclab.congestion.bsp import idle_workers
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.formula import Formula
from fabriclab.course.engine.exercises.kinds import Choice, Option, Ordering, Quantity
from fabriclab.course.engine.exercises.slips import BITS, BOTH_WAYS, Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import Gbps, day, hour, ms, si

BYTES = {"FP32": 4, "BF16": 2}
GPUS = {gpu.name: gpu for gpu in ACCELERATORS}


def _ladder(x):
    gpu = GPUS[x.gpu]
    return {
        "HBM": gpu.hbm,
        "NVLink": gpu.nvlink.per_direction,
        "PCIe": gpu.host.per_direction,
        "port": gpu.port.per_direction,
    }


def _data_sheet(x):
    """The same ladder as its makers print it: two bases and two units."""
    gpu = GPUS[x.gpu]
    return (
        f"HBM {si(gpu.hbm, 'B/s')}; NVLink {si(gpu.nvlink.both_directions, 'B/s')}, both"
        f" directions; PCIe {si(gpu.host.both_directions, 'B/s')}, both directions; the network"
        f" port {si(gpu.port.per_direction, 'b/s')}"
    )


def _idle_money(x):
    """Dollars a day: the GPUs that wait, as a number of GPUs,
    for as long as a late step is late.
    """
    punctual = x.step / (x.step + x.delay)
    return idle_workers(x.gpus, x.delay / x.step) * punctual * x.price * day / hour


def _asked_port(t, U, N, M):
    return collectives.bus_factor("all_reduce", N) * M * U / (t * (1 - U))


def _port_points(draw):
    return [
        {
            "t": 10 ** (-2 + 2 * draw.share(f"t {i}")),
            "U": 0.5 + 0.49 * draw.share(f"U {i}"),
            "N": 2 + int(1000 * draw.share(f"N {i}") ** 3),
            "M": 10 ** (6 + 5 * draw.share(f"M {i}")),
        }
        for i in range(12)
    ]


EXERCISES = [
    Exercise(
        id="opening.gradient",
        title="A gradient on one port",
        chinese="梯度与一个端口",
        numbers=lambda draw: {
            "parameters": draw.pick("parameters", (7, 13, 34, 70, 405)) * 1e9,
            "precision": draw.pick("precision", ("FP32", "BF16")),
            "beta": draw.pick("beta", (100, 200, 400, 800)) * Gbps,
        },
        prompt=(
            "A model has {billions:.0f} billion parameters; its gradients are "
            "{precision}, one a parameter. How long does one copy of them take through "
            "one port of {beta:b/s}, one way, start-up left aside? It is the scale on "
            "which a step without overlap waits."
        ),
        kind=Quantity(
            lambda x: x.parameters * BYTES[x.precision] / x.beta,
            "time",
            slips=(
                Slip(
                    "a byte a parameter",
                    "you gave each gradient one byte; its precision needs more",
                    lambda x: x.parameters / x.beta,
                ),
                Slip(
                    BITS,
                    "you took the port's bits per second for bytes per second",
                    lambda x: x.parameters * BYTES[x.precision] / (8 * x.beta),
                ),
            ),
        ),
        hints=(
            "How many bytes has one number of that precision? 32 bits are 4 bytes.",
            "A port of 100 Gb/s moves 12.5 GB/s each way.",
        ),
        moral="A ring AllReduce sends nearly twice these bytes from every rank.",
        places={"billions": lambda x: x.parameters / 1e9},
    ),
    Exercise(
        id="opening.cliff",
        title="The cliff, like with like",
        chinese="带宽断崖",
        numbers={
            "nvlink": pick("NVLink 3", "NVLink 4", "NVLink 5"),
            "port": pick("EDR", "HDR", "NDR"),
        },
        prompt=lambda x: (
            f"{x.nvlink} is sold as {si(link_rate(x.nvlink).both_directions, 'B/s')}, both"
            f" directions together. Beside each GPU sits one {x.port} port of"
            f" {si(link_rate(x.port).per_direction, 'b/s')}. By what factor does bandwidth drop, in"
            " one direction, where a message leaves the node? It decides which kind of parallelism"
            " may cross it."
        ),
        kind=Quantity(
            lambda x: link_rate(x.nvlink).per_direction / link_rate(x.port).per_direction,
            "number",
            slips=(
                Slip(
                    BOTH_WAYS,
                    "you set both directions of NVLink against one of the port: bring them to one"
                    " base first",
                    lambda x: link_rate(x.nvlink).both_directions / link_rate(x.port).per_direction,
                ),
                Slip(
                    BITS,
                    "you divided bytes by bits: the port is sold in bits per second",
                    lambda x: (
                        link_rate(x.nvlink).per_direction / (8 * link_rate(x.port).per_direction)
                    ),
                ),
                Slip(
                    "upside down",
                    "you divided the port by NVLink; the drop is the other way round",
                    lambda x: link_rate(x.port).per_direction / link_rate(x.nvlink).per_direction,
                ),
            ),
        ),
        hints=(
            "Bring both to bytes per second, and both to one direction.",
            (
                "A port carries its rate each way at the same time; the NVLink figure has added the"
                " ways up."
            ),
        ),
        moral="A ratio means something only when both of its halves count the same thing.",
    ),
    Exercise(
        id="opening.ladder",
        title="Four rungs, two bases",
        chinese="带宽层级",
        numbers={"gpu": pick(*(tuple(GPUS)))},
        prompt=(
            "From the data sheets of a node with {gpu} GPUs: {data_sheet}. Order the four"
            " by what each carries in one direction."
        ),
        kind=Ordering(
            _ladder,
            "slowest",
            "bring all four to bytes per second in one direction before you order them",
        ),
        hints=(
            "Eight bits are a byte.",
            (
                "Halve what counts both directions; the port's rate and the memory's count one"
                " already."
            ),
        ),
        moral=(
            "The order has not changed in four generations; what lies below NVLink is what crosses"
            " the node's edge."
        ),
        places={"data_sheet": _data_sheet},
    ),
    Exercise(
        id="opening.step",
        title="A step with some overlap",
        chinese="训练步的利用率",
        numbers={
            "forward": pick(60, 80, 100, unit=ms),
            "backward": pick(120, 160, 200, unit=ms),
            "communication": pick(120, 150, 180, 200, unit=ms),
            "overlap": pick(0.25, 0.5),
        },
        prompt=(
            "Forward {forward:s}, backward {backward:s}, AllReduce {communication:s}; "
            "gradients may travel during the last {overlap_per_cent:.0f} % of the "
            "backward pass. What share of the step do the GPUs compute? Figure 4, where "
            "nothing overlaps, is the worst case of this."
        ),
        kind=Quantity(
            lambda x: (
                collectives.Step(x.forward, x.backward, x.communication, x.overlap).utilisation
            ),
            "number",
            slips=(
                Slip(
                    "no overlap",
                    "you hid nothing behind the backward pass",
                    lambda x: collectives.Step(x.forward, x.backward, x.communication).utilisation,
                ),
                Slip(
                    "hid behind all compute",
                    "you hid the AllReduce behind the forward pass as well, before there are"
                    " gradients",
                    lambda x: collectives.utilisation(
                        x.forward + x.backward, x.communication, x.overlap
                    ),
                ),
                Slip(
                    "idle share",
                    "you gave the share of the step that is idle",
                    lambda x: (
                        1
                        - collectives.Step(
                            x.forward, x.backward, x.communication, x.overlap
                        ).utilisation
                    ),
                ),
            ),
        ),
        hints=(
            "How long do compute and AllReduce run side by side?",
            (
                "What is left of the AllReduce is idle time; divide compute by compute and idle"
                " time together."
            ),
        ),
        moral=(
            "Overlap pays millisecond for millisecond, until nothing is exposed; then it pays"
            " nothing."
        ),
        places={"overlap_per_cent": lambda x: 100 * x.overlap},
    ),
    Exercise(
        id="opening.port",
        title="The port that a utilisation asks for",
        chinese="利用率所需的带宽",
        numbers={},
        prompt=(
            "A step computes for t seconds; then N ranks sum M bytes around a ring whose "
            "links carry β one way. Start-ups are nothing and nothing overlaps. Derive "
            "the β that keeps the GPUs busy for a share U of the step. This turns a "
            "budget for waste into a line of a purchase order."
        ),
        kind=Formula(
            ("t", "U", "N", "M"),
            _asked_port,
            _port_points,
            slips=(
                (
                    "forgot the 2",
                    (
                        "you went round once: reduce-scatter and all-gather each send (N - 1)/N of"
                        " the buffer"
                    ),
                    lambda t, U, N, M: _asked_port(t, U, N, M) / 2,
                ),
                (
                    "idle share of the compute",
                    (
                        "you took the idle time as (1 - U) t; U is a share of the whole step, not"
                        " of the compute"
                    ),
                    lambda t, U, N, M: _asked_port(t, U, N, M) / U,
                ),
                (
                    "took N as endless",
                    "you took N as endless in (N - 1)/N",
                    lambda t, U, N, M: _asked_port(t, U, N, M) * N / (N - 1),
                ),
            ),
            answer="2*(N - 1)/N * M * U/(t*(1 - U))",
        ),
        hints=(
            "U = t/(t + T). Solve for the time T that the ring may take.",
            "The ring takes T = 2 (N-1)/N M/β; sympy.solve does the algebra.",
        ),
        moral=(
            "The last per cents are the dear ones: from 90 % to 99 % takes eleven times the port."
        ),
    ),
    Exercise(
        id="opening.straggler",
        title="One late port, all GPUs wait",
        chinese="最慢链路的代价",
        numbers={
            "gpus": pick(512, 1024, 2048, 4096),
            "step": pick(250, 300, 450, 600, unit=ms),
            "delay": pick(40, 60, 90, 100, unit=ms),
            "price": pick(2.0, 2.5, 3.0, 3.5),
        },
        prompt=(
            "{gpus:,} GPUs at {price:g} dollars each an hour take {step:s} for a "
            "synchronous step, until one congested port makes one GPU's packets {delay:s}"
            " late in every step. What does the waiting cost in a day? Such a port prints"
            " no error anywhere."
        ),
        kind=Quantity(
            _idle_money,
            "money",
            slips=(
                Slip(
                    "one GPU waits",
                    "you charged for one GPU; all of them wait for it",
                    lambda x: _idle_money(x) / (x.gpus - 1),
                ),
                Slip(
                    "as many steps as before",
                    "you let a day hold as many steps as before; late steps are longer, so there"
                    " are fewer",
                    lambda x: _idle_money(x) * (x.step + x.delay) / x.step,
                ),
            ),
        ),
        hints=(
            "Which share of a late step does a GPU that was on time spend waiting?",
            "That share of all GPU-hours of the day, at their price.",
        ),
        moral="In a web service the same port would have slowed one user.",
    ),
    Exercise(
        id="opening.pattern",
        title="Which number to ask for",
        chinese="流量模式决定指标",
        numbers={"ranks": pick(64, 128, 256), "experts": pick(64, 128, 160)},
        prompt=(
            "A mixture-of-experts model spreads {experts} experts over {ranks} ranks; in "
            "every layer each rank sends tokens to the ranks of the experts they chose. "
            "You may ask for one kind of measurement of a fabric before you rent it. "
            "Which predicts this job best?"
        ),
        kind=Choice(
            (
                Option(
                    "How evenly paths are used and how deep egress queues grow while all ranks"
                    " send to all at once, to the slowest flow",
                    "An AllToAll is many pairs at once: it is done when the fullest path and the"
                    " deepest queue are.",
                    right=True,
                    also=(
                        "How evenly paths are used in an AllToAll of all ranks, how deep egress"
                        " queues get, and its slowest flows",
                    ),
                ),
                Option(
                    "The rate of one port, sender to receiver, on an idle network: no job can get"
                    " more than its 48 GB/s",
                    "Every port may reach it and the job still crawl: what counts is many pairs at"
                    " once, not one.",
                ),
                Option(
                    "Start-up time and switches on the path between neighbours: at a microsecond"
                    " each, the hops of every token decide",
                    "That is what a pipeline lives on: few partners, small dependent messages. Here"
                    " each rank has many partners at once.",
                ),
                Option(
                    "Pause time and bandwidth per traffic class when a checkpoint is written,"
                    " since its terabyte holds up every token",
                    "That says whether other traffic keeps out of training's way, and nothing of"
                    " how its own flows meet.",
                ),
            )
        ),
        hints=(
            "Who sends to whom, and when? Draw four ranks.",
            "Which resource is shared by many of these flows at one moment?",
        ),
        moral="Four patterns, four measurements: no link rate alone predicts training.",
    ),
]
