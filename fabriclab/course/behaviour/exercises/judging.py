"""Exercises of level 4: estimate, find the bug, read, object, decide, explain."""

from fabriclab import congestion, reliability
from fabriclab.course.engine.exercises.core import Exercise
from fabriclab.course.engine.exercises.kinds import Option, Quantity
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.exercises.tasks import Bug, Decision, Estimate, Explain, Plant, Several
from fabriclab.course.engine.exercises.template import pick
from fabriclab.units import GB, KB, MB, hour, us


def _seen(draw):
    """A queue as a monitor sees it: it fills while some senders send, and drains."""
    senders, on = draw.pick("senders", (2, 3, 4, 5)), draw.pick("on", (2, 3))
    step, rate = draw.pick("step", (2, 4, 8)) * us, 50 * GB
    up = [congestion.queue_after(step * n, senders * rate, rate) for n in range(on + 1)]
    down = [max(0.0, up[-1] - rate * step * n) for n in range(1, 13 - on)]
    return {"queue": up + down, "step": step, "rate": rate}


def _trace(x):
    """The queue against time, as a drawing in text."""
    unit = x.rate * x.step
    rows = []
    for level in range(round(max(x.queue) / unit), -1, -1):
        marks = "".join("  o" if round(q / unit) == level else "   " for q in x.queue)
        rows.append(f"{level * unit / KB:6.0f} |{marks}".rstrip())
    axis = "".join(f"{n * x.step / us:6.0f}" for n in range(0, 13, 2))
    return "\n".join(["queue (KB)", *rows, "       +" + "-" * 39, f"     {axis}  us"])


def _arrivals(x):
    return x.rate + x.queue[1] / x.step


def _costs(x):
    """Dollars: the drain is paid for sure, the crash by chance."""
    return {
        "drain now": x.drain,
        "wait": x.chance * x.crash,
        "drain tonight": (x.night + x.chance * x.crash / 4),
    }


EXERCISES = [
    Exercise(
        id="behaviour.guess",
        title="Before you compute: how long until the first one breaks",
        chinese="数量级估计",
        numbers={
            "modules": pick(4_000, 20_000, 80_000),
            "mttf": pick(1_000_000, 2_000_000, 5_000_000, unit=hour),
        },
        places={"hours": lambda x: x.mttf / hour},
        prompt=(
            "A fleet has {modules:,} optical modules, each with a mean time to failure of"
            " {hours:,.0f} hours. How long is it, on average, until the first one fails? No"
            " calculator: between what and what?"
        ),
        kind=Estimate(
            lambda x: reliability.time_to_first(reliability.rate_from_mttf(x.mttf), x.modules),
            "time",
            widest=10,
        ),
        hints=(
            "Picture one module, then ten of them: what happens to the wait for the first?",
            "Rates add up; the mean time goes down with the number.",
            "A year has close to 10,000 hours, a month 720.",
        ),
        moral="A part that lives for centuries fails every few days in a fleet.",
    ),
    Exercise(
        id="behaviour.bug",
        title="A queue with one wrong line",
        chinese="找出推导中的错误",
        prompt=(
            "Somebody's derivation for an incast: N senders send at rate C each into one port that"
            " sends at C; the buffer B is empty at first."
        ),
        kind=Bug(
            lines=(
                "bytes that come in time t:     N C t",
                "bytes that leave in time t:    C t",
                "queue at time t:               (N - 1) C t",
                "the buffer is full when        (N - 1) C t = B",
                "so it fills in                 t = B / ((N - 1) C)",
                "and drains, senders silent, in t = B / C",
            ),
            plants=(
                Plant(1, "bytes that come in time t:     C t", "All N senders send at once."),
                Plant(2, "bytes that leave in time t:    N C t", "One port sends at C."),
                Plant(3, "queue at time t:               N C t", "What leaves does not queue."),
                Plant(
                    5,
                    "so it fills in                 t = B (N - 1) / C",
                    "More senders fill it sooner, not later.",
                ),
                Plant(
                    6,
                    "and drains, senders silent, in t = B / ((N - 1) C)",
                    "It drains at C, N - 1 times as slowly as it filled.",
                ),
            ),
            reasons={
                1: "Each of N senders brings C t.",
                2: "The port sends at C as long as it has something to send.",
                3: "The queue is what came less what left.",
                4: "Full means that the queue is as large as the buffer.",
                5: "The line before it, solved for t.",
                6: "With nobody sending, the port empties B at C.",
            },
        ),
        hints=(
            "Picture two senders: how fast does the queue grow then?",
            "Try N = 1: nothing should ever queue.",
            "Each line should follow from those above it; do the units agree, and the limits?",
        ),
        moral="N = 1 and very many senders: two limits find the wrong line of most derivations.",
    ),
    Exercise(
        id="behaviour.trace",
        title="What came in, seen from what queued",
        chinese="读图：队列轨迹",
        numbers=_seen,
        places={"trace": _trace},
        prompt=(
            "A switch port of 50 GB/s, at which several senders begin together and stop"
            " together:\n\n```\n{trace}\n```\n\nAt what rate did they send, all together?"
        ),
        kind=Quantity(
            key=_arrivals,
            dimension="rate",
            slips=(
                Slip(
                    "the port itself forgotten",
                    "you counted what queues; the port sends meanwhile, and that came in too",
                    lambda x: _arrivals(x) - x.rate,
                ),
            ),
        ),
        hints=(
            "Compare the way up with the way down: which is steeper?",
            "On the way down the port alone acts, at 50 GB/s.",
            "The slope up is what comes in less what goes out.",
        ),
        moral="A trace tells what came in, and the time it takes to be rid of it.",
    ),
    Exercise(
        id="behaviour.objections",
        title="More buffer, no more loss",
        chinese="评判一个论断",
        numbers={"buffer": pick(32, 64, 128, unit=MB)},
        places={"drain": lambda x: congestion.drain_time(x.buffer, 50 * GB)},
        prompt=(
            'A proposal: "Incast drops packets. A switch with {buffer:B} for each port of 400 Gb/s'
            ' ends that, and jobs run faster." Which objections are sound?'
        ),
        kind=Several(
            (
                Option(
                    "A full buffer of that size takes {drain:s} to drain, and all behind it wait",
                    "Queueing delay is bytes in the queue over the port's rate.",
                    right=True,
                    also=("Whoever comes last into the full buffer waits {drain:s} to leave it",),
                ),
                Option(
                    "Senders that do not slow down fill any buffer; it only happens later",
                    "A buffer takes up a difference of rates for a while. Control ends it.",
                    right=True,
                    also=("With nobody slowing down it fills all the same, some time later",),
                ),
                Option(
                    "PFC guarantees that no packet is lost, so the buffer's size plays no part",
                    "PFC itself needs buffer, as headroom, and bit errors lose packets all the"
                    " same.",
                    also=("As PFC makes the network lossless, no buffer above a packet is needed",),
                ),
                Option(
                    "Packets travel more slowly through a larger memory, so each hop costs more",
                    "An empty buffer delays nothing, however large; only bytes in it do.",
                    also=(
                        "A larger memory slows each packet on its way, even with no queue in it",
                    ),
                ),
            )
        ),
        hints=(
            "Picture the full buffer: who stands at its end?",
            "What must change for the queue to stop growing?",
            "Is it true of an empty queue too?",
        ),
        moral="A buffer turns loss into waiting; a control loop turns waiting into sending less.",
    ),
    Exercise(
        id="behaviour.drain",
        title="A port that counts errors, and a job that runs",
        chinese="信息不全时的决策",
        numbers={
            "chance": pick(0.05, 0.2, 0.5, 0.8),
            "crash": pick(40_000, 100_000, 200_000),
            "drain": pick(15_000, 20_000, 30_000),
            "night": pick(3_100, 8_200),
        },
        prompt=(
            "A port counts more symbol errors each hour. From others like it you give it a chance"
            " of {chance:.0%} to fail before tomorrow's checkpoint. A crash costs {crash:$} of lost"
            " work. Draining the host now costs {drain:$} for sure. Draining it tonight, when"
            " spares are free, costs {night:$}; a quarter of the risk has then been run. What do"
            " you do?"
        ),
        kind=Decision(
            _costs,
            "Weigh the crash by its chance, and add what is paid for sure; for tonight, a quarter"
            " of that chance.",
        ),
        hints=(
            "For each action: what is paid for sure, and what perhaps?",
            "Perhaps is chance times cost.",
            "Tonight still runs a quarter of the chance of a crash.",
        ),
        moral="A counter need not be certain to be worth acting on: its chance has a price.",
    ),
    Exercise(
        id="behaviour.explain",
        title="Lossless, for a manager",
        chinese="向经理解释",
        prompt=(
            "Your manager has read that the new fabric is lossless, and asks why you want senders"
            " that recover from loss. Explain."
        ),
        kind=Explain(
            rubric=(
                "lossless means that full buffers drop nothing, since senders are paused",
                "bit errors and failing links lose packets all the same",
                "so every reliable transport must find a loss and send again",
                "what to compare is what one loss costs",
            ),
            sample=(
                "Lossless means only that full buffers drop nothing: the switch pauses its"
                " senders. Bit errors, broken links and resets lose packets all the same, a few a"
                " day in a large fabric. Some end has to notice and send again. What differs"
                " between products is whether that costs one packet or the whole window."
            ),
        ),
        hints=(
            "Which losses does a pause prevent?",
            "Which does it not?",
            "So what has to happen at the ends?",
        ),
    ),
]
