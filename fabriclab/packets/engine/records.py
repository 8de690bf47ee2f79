"""The tables that hold all state, and how the functions are compiled.

Where a packet waits in line `after` names the next one, so that a line costs no memory of its own;
-1 is nobody. A port is one lane of one direction of a cable, with a queue and pauses of its own.
Ports of one wire stand side by side; the first keeps what they share.
"""

from collections import namedtuple

import numpy as np
from numba import njit

# What can happen. From WATCH on it is only a clock that ticks, whether or not anything moves.
ARRIVE, FREE, READY, PAUSE, RESUME, FEEDBACK, CREDIT = range(7)
WATCH, CLIMB, FORGET, TIMEOUT, SAMPLE = range(7, 12)
HASH, SPRAY, ADAPTIVE, FLOWLET = range(4)
PLAIN, DCQCN, HPCC = range(3)
ACK, NACK, CNP = 1, 2, 4  # what a packet brings back; bits of its `note`
CUT = 8  # on its way there: nothing but a header is left of it
MISSING, GOT, WANTED = range(3)  # selective repeat: a packet not here, here, or to be sent again
MORE, DONE, LATE, LOCKED, FULL = range(5)  # why `advance` returns


def _record(**columns):
    """A table's columns by type: the narrower a row, the more of them the cache holds."""
    return np.dtype([(n, t) for t, names in columns.items() for n in names.split()], align=True)


# rows of what was just pushed; the heap's; and the wheel's, each slot's in line, where `kind` is -1
# in a row that is free
PUSHED = _record(i8="time", i4="kind who")
EVENT = _record(i8="time order", i4="kind who")
NODE = _record(i8="time order", i4="kind who after")
SLOT = _record(i4="head tail")
CLOCK = _record(
    i8="now order events timers pushed found moving moved started unfinished line line_end pauses"
    " samples delivered turns",
    i4="spare fresh spares free_node fresh_node",
    u8="random",
)
SETUP = _record(
    i8="shift lanes packet routing selective control pfc in_order timeout watchdog until sample"
    " margin gap cut_every alpha_every timer byte_counter fast_steps max_stage hosts"
    " trim above per_packet credits link_retry",
    f8="kmin kmax pmax gain increase slowest eta trip window_increase spoilt",
)
# `wire` is the first port of the wire, where `free_at`, `waking` and `begun` belong to the wire;
# `held`, `stopping`, `xoff`, `xon`, `room` and `dropped` belong to the buffer at the far end of the
# port's cable; `cut_end` is the last of the headers that stand before whole packets,
# `ahead` how many went since the last whole one
PORT = _record(
    i4="wire lane head tail ready ready_end paused waking own_turn stopping peer owner watched"
    " rank cut_end ahead credit retried",
    i8="delay free_at queue held xoff xon room peak busy carried turn paused_at pauses paused_for"
    " dropped",
    f8="per_byte cost had begun",
)
# a flow as it was given, and as it stands; `via` is where its ports begin in the table of that name
MESSAGE = _record(i8="size first via start", i4="lane source target packets")
WAY = _record(i4="row home up ups down downs")  # see `routes.Routes`
FLOW = _record(
    i8="pace touched due next_cnp finished sent again delivered discarded dropped marked",
    i4="next reached received beyond acked wanted resend has_turn after later nacked trimmed",
)
CONTROL = _record(
    i8="climb_due forget_due bytes byte_steps time_steps stage settled heard_any",
    f8="line rate target alpha window reference used",
)
# `hop` is the place of its port in the table `via`; `back` how long an answer travels
PACKET = _record(i4="flow number size port after hop marked note about acked", i8="back")
# in-band telemetry: what HPCC's switches write into a packet
STAMP = _record(i8="queue carried time", f8="per_byte")
LEFT = _record(i8="time", i4="port known")  # when and by which port a flow left a vertex last
PAUSED = _record(i8="time port on")
PORT_SAMPLE = _record(i8="carried dropped paused")
FLOW_SAMPLE = _record(i8="delivered dropped")

# pushed, heap, nodes, slots, bits, sums: what comes next, see `events`. via: each flow's ports,
# first to last, where every packet takes the same. told and heard: telemetry in packets, and as
# senders last heard it; got: selective repeat's packets; used and size: each lane's share of every
# switch's buffer; ways, first and choices: routes, see `routes.Routes`; left: flowlets; log:
# pauses; the rest: what is sampled, and samples.
State = namedtuple(
    "State",
    "setup clock pushed heap nodes slots bits sums ports given flows control packets via told heard"
    " got used size ways first choices left log watch watch_flows times queues rates port_samples"
    " flow_samples",
)

# The core allocates nothing, so it needs no reference counts: without them it runs three times as
# fast. A call would hand over every table of the state: inlined, it is twice as fast again.
OPTIONS = {"error_model": "numpy", "_nrt": False}
compiled = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True, **OPTIONS)
