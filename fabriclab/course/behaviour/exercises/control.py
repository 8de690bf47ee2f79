"""Exercises of level 4: congestion control and hashing."""

from fabriclab import congestion, reliability, transport
from fabriclab.congestion import Dcqcn
from fabriclab.course.behaviour.exercises.common import PER_METRE
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Free, Ordering, Quantity
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import MB, Gbps, day, ms


def _flows_on_ramp(settings, marking):
    """The most flows whose fixed point lies on the ramp."""
    flows = 1
    while marking(flows + 1, settings) <= settings.pmax:
        flows += 1
    return float(flows)


def _exact(flows, settings):
    return congestion.fixed_point(flows, settings).marking


def _settings(x):
    return Dcqcn(capacity=x.rate, pmax=x.pmax)


def _scales(x):
    incast = congestion.offered_load(x.senders, x.rate)
    return {
        "pause signal": congestion.pause_signal_time(1, 2 * x.length * PER_METRE),
        "buffer fills": congestion.fill_time(incast, x.rate, x.buffer),
        "longest pause": congestion.pause_time(congestion.MAX_QUANTA, x.rate),
        "buffer drains": congestion.drain_time(x.buffer, x.rate),
        "watchdog": 200 * ms,
    }


def _between_mine(x):
    """Seconds between two failures of the student's job."""
    rate = reliability.rate_from_events(x.events, x.days * day, x.theirs)
    return 1 / (x.mine * rate)


def _end_to_end(x, cables=None, window=None, bits=8):
    lost = transport.spoilt_share(x.ber, x.packet * bits / 8, cables or x.cables)
    return transport.goodput_go_back_n(lost, window or x.window)


EXERCISES = [
    Exercise(
        id="behaviour.times",
        title="Which comes first",
        chinese="时间尺度",
        numbers={
            "length": 100,
            "senders": pick(3, 6, 11, 33, 63),
            "rate": pick(100, 200, 400, unit=Gbps),
            "buffer": pick(16, 32, 64, unit=MB),
        },
        prompt=(
            "A port of {rate:b/s}, {buffer:B} of buffer, {senders} senders of the port's "
            "rate. Order these times. *pause signal*: there and back over {length} m of "
            "fibre, 5 ns a metre. *buffer fills*: by these senders. *longest pause*: "
            "65,535 quanta of 512 bit times. *buffer drains*: a full one, with nothing "
            "coming in. *watchdog*: SONiC's 200 ms. Whoever has this order in mind reads "
            "PFC logs the right way."
        ),
        kind=Ordering(
            _scales,
            "shortest",
            look=(
                "work out each in microseconds; mind bits and bytes, and that a port drains while"
                " it fills."
            ),
        ),
        hints=(
            "A bit time is 1/rate; 65,535 × 512 of them are 4.2 MB.",
            "The buffer grows by (senders - 1) ports' worth.",
        ),
        moral=(
            "From a PAUSE's flight to the watchdog they span five powers of ten: name the mechanism"
            " before you believe a time."
        ),
    ),
    Exercise(
        id="behaviour.collision",
        title="No two on one path",
        chinese="ECMP 哈希碰撞",
        numbers={"flows": pick(4, 5, 6, 7, 8)},
        prompt=(
            "{flows} flows are hashed onto {flows} equal paths, each flow to each path "
            "alike. What is the chance that no two share one? For a few large flows that "
            "last for days, hashing is drawn once."
        ),
        kind=Quantity(
            lambda x: float(congestion.even_split(x.flows, x.flows)),
            "number",
            slips=(
                Slip(
                    "one order only",
                    "you counted one of the ways to give each flow a path of its own",
                    lambda x: x.flows**-x.flows,
                ),
                Slip(
                    "pairs as if independent",
                    "you took the pairs of flows as independent of each other; they share flows",
                    lambda x: (1 - 1 / x.flows) ** (x.flows * (x.flows - 1) / 2),
                ),
                Slip(
                    "complement",
                    "you gave the chance that some two do share",
                    lambda x: 1 - float(congestion.even_split(x.flows, x.flows)),
                ),
            ),
        ),
        hints=(
            (
                "Place the flows one by one: how many paths are still free for the second, the"
                " third, the last?"
            ),
            "Favourable ways over all ways: n! over n^n.",
        ),
        moral="For 64 on 64 it is 3e-27: with hashing, collisions are the rule.",
    ),
    Exercise(
        id="behaviour.speed",
        title="What collisions cost on average",
        chinese="哈希碰撞与有效带宽",
        numbers=lambda draw: dict(
            zip(
                ("flows", "paths"),
                draw.pick("flows and paths", ((8, 4), (16, 8), (12, 4), (24, 8), (12, 6), (32, 8))),
                strict=True,
            )
        ),
        prompt=(
            "{flows} equal flows are hashed onto {paths} equal paths; a step waits for "
            "the slowest. Against an even split, how fast is the slowest flow on average,"
            " over all ways the hash may fall? Use the exact odds, "
            "`congestion.fullest_path`, or a simulation of your own with enough draws."
        ),
        kind=Quantity(
            lambda x: congestion.mean_speed(x.flows, x.paths),
            "number",
            slips=(
                Slip(
                    "speed at the mean load",
                    "you took the speed at the mean load; the mean of 1/max is more than one over"
                    " the mean of max",
                    lambda x: x.flows / x.paths / congestion.mean_fullest(x.flows, x.paths),
                ),
                Slip(
                    "load for speed",
                    "you gave the slowdown, not the speed",
                    lambda x: congestion.mean_fullest(x.flows, x.paths) * x.paths / x.flows,
                ),
            ),
        ),
        hints=(
            "With k flows on the fullest path, how fast is each of them? And in an even split?",
            (
                "odds = congestion.fullest_path(flows, paths) gives P(max = k); weigh the speed for"
                " each k."
            ),
        ),
        moral=(
            "More flows per path even it out, if slowly: this is why large flows are split over"
            " several queue pairs."
        ),
    ),
    Exercise(
        id="behaviour.dcqcn",
        title="Too many for the ramp",
        chinese="DCQCN 不动点",
        numbers={"rate": pick(40, 100, unit=Gbps), "pmax": pick(0.01, 0.02, 0.05)},
        prompt=(
            "DCQCN with its authors' settings, but a port of {rate:b/s} and Pmax = "
            "{pmax:g}: `congestion.Dcqcn(capacity=…, pmax=…)`. What is the largest number"
            " of equal flows whose exact fixed point still lies on the marking ramp? With"
            " more, the queue swings across Kmax, where every packet is marked."
        ),
        kind=Quantity(
            lambda x: _flows_on_ramp(_settings(x), _exact),
            "number",
            whole=True,
            tolerance=0.001,
            slips=(
                Slip(
                    "cube root",
                    "you took the authors' cube-root approximation, which marks some 20 % too high",
                    lambda x: _flows_on_ramp(_settings(x), congestion.cube_root_marking),
                ),
                Slip(
                    "first without",
                    "you gave the first number of flows that has none",
                    lambda x: _flows_on_ramp(_settings(x), _exact) + 1,
                ),
            ),
        ),
        hints=(
            "congestion.fixed_point(flows, settings) says in `.exists` whether there is one.",
            "Go up from one flow until there is none.",
        ),
        moral=(
            "A higher Pmax takes more flows before the queue swings; the authors' own settings end"
            " at 14."
        ),
    ),
    Exercise(
        id="behaviour.utilisation",
        title="Checkpoint 1.5: does the utilisation fit",
        chinese="诊断训练作业变慢",
        numbers={
            "before": pick(3.6, 4.2, 4.8),
            "more": pick(0.6, 0.8, 1.0),
            "busy": pick(0.9, 0.92, 0.94),
        },
        prompt=lambda x: (
            f"A job's step has grown from {x.before} s to {x.before + x.more:.1f} s; before, the"
            f" GPUs were busy for {100 * x.busy:g} % of the time. If the work per step is the same"
            " and all the growth is idle waiting, what utilisation do you expect now? Checkpoint"
            " 1.5 reports 92 % before and 85 % after."
        ),
        kind=Quantity(
            lambda x: x.busy * x.before / (x.before + x.more),
            "number",
            tolerance=0.005,
            slips=(
                Slip(
                    "points for per cent",
                    "you took the growth off in percentage points",
                    lambda x: x.busy - x.more / x.before,
                ),
                Slip(
                    "of the wrong base",
                    "you took the growth's share of the old step off; the busy seconds are now"
                    " spread over the new one",
                    lambda x: x.busy * (1 - x.more / x.before),
                ),
            ),
        ),
        hints=(
            "How many seconds of a step were the GPUs busy?",
            "The same seconds, over the longer step.",
        ),
        moral=(
            "The checkpoint's numbers would give 80.5 %, and it reports 85 %: nvidia-smi counts a"
            " NCCL kernel that spins while it waits as busy."
        ),
    ),
    Exercise(
        id="behaviour.diagnosis",
        title="Checkpoint 1.5, first part: where to look first",
        chinese="第一步诊断",
        numbers={
            "gpus": pick(256, 512, 1024),
            "before": pick(3.6, 4.2, 4.8),
            "more": pick(0.6, 0.8),
        },
        prompt=(
            "A job has run on {gpus} GPUs for three days. Its step has crept from "
            "{before} s to {after:.1f} s, and nvidia-smi shows less utilisation than at "
            "first. Choose the first thing you do. Name the tool that tells a job bound "
            "by communication from one bound by computing, and two pieces of evidence, "
            "each with what it would show in either case."
        ),
        kind=Free(least_words=50, worth=8),
        hints=(
            (
                "Which part of a step grew? Something must time the parts of a step, on more than"
                " one rank."
            ),
            "What would a slow GPU show that a slow link does not, and the other way round?",
        ),
        places={"after": lambda x: x.before + x.more},
    ),
    Exercise(
        id="behaviour.rate",
        title="From their cluster to yours",
        chinese="由事件数推算故障率",
        numbers={
            "events": pick(120, 210, 419, 640),
            "days": pick(30, 54, 90),
            "theirs": pick(8192, 16_384, 24_576),
            "mine": pick(512, 1024, 2048, 4096),
        },
        prompt=(
            "A report has {events} interruptions in {days} days of a job on {theirs:,} "
            "GPUs. Your job will have {mine:,} GPUs of the same kind. If interruptions "
            "grow with the number of GPUs, how long will it run between two of them, on "
            "average?"
        ),
        kind=Quantity(
            _between_mine,
            "time",
            slips=(
                Slip(
                    "their job",
                    "that is the time between two interruptions of their job, not of yours",
                    lambda x: x.days * day / x.events,
                ),
                Slip(
                    "one GPU",
                    "that is the time of a single GPU; all of yours can interrupt the job",
                    lambda x: _between_mine(x) * x.mine,
                ),
                Slip(
                    "upside down",
                    "you made the smaller job fail more often",
                    lambda x: x.days * day / x.events * x.mine / x.theirs,
                ),
            ),
        ),
        hints=(
            "How many GPU-days did they watch, and how many interruptions is that for each?",
            "A rate is events over (GPUs × time); your rate is that times your GPUs.",
        ),
        moral=(
            "With 419 events the rate is known to about a tenth; with four, hardly to a factor of"
            " three."
        ),
    ),
    Exercise(
        id="behaviour.retry",
        title="Who repeats what a cable spoils",
        chinese="端到端重传与链路级重传",
        numbers=lambda draw: {
            "ber": draw.pick("ber", (1e-9, 2e-9, 5e-9, 1e-8)),
            "packet": draw.pick("packet", (1024, 2048, 4096)),
            "cables": draw.pick("cables", (4, 6)),
            "window": draw.pick("window", (200, 500, 1000)),
        },
        prompt=lambda x: (
            f"After FEC every cable still has a bit error ratio of {x.ber:g}. Packets of"
            f" {x.packet:,} bytes cross {x.cables} cables, and a spoilt one is dropped. The sender"
            f" works by go-back-N and has sent {x.window} packets before it hears of a loss: all"
            " of them go again. What share of its line carries new bytes?"
        ),
        kind=Quantity(
            _end_to_end,
            "number",
            tolerance=0.002,
            slips=(
                Slip(
                    "one cable",
                    "you let one cable spoil packets; the sender repeats for all on the path",
                    lambda x: _end_to_end(x, cables=1),
                ),
                Slip(
                    "one packet again",
                    "you sent the lost packet alone again; go-back-N sends the window",
                    lambda x: _end_to_end(x, window=1),
                ),
                Slip(
                    "bytes for bits",
                    "you counted a packet's bytes; each of its bits can be wrong",
                    lambda x: _end_to_end(x, bits=1),
                ),
            ),
        ),
        hints=(
            "How many bits must all be right for one packet to come through?",
            "The chance p that a packet is lost: nearly bits × cables × ratio.",
            "(1 - p) / (1 - p + p W), with W the packets that go again.",
        ),
        moral=(
            "A retry on the cable repeats a microsecond's worth and asks nobody else, so the path's"
            " length and the window drop out: that is what lets a transport stay simple."
        ),
    ),
]
