"""Drawings for level 4, what waits for what: pauses that spread over a network, and the circle among buffers. Floor 5."""

from fabriclab.figures import drawing


@drawing
def pauses(ax, network, run, target, at=None):
    """PFC pauses over a small leaf-spine `network` (`topology.Topology`) in a `packets.Run`: who had to stop, and when first.

    Cables paused until `at` seconds (left out: ever) are drawn thick, with the time of their first pause. Flows to host
    `target` are the cause; victims are flows to other hosts that crossed a paused cable: theirs are lit.
    """


@drawing
def dependencies(ax, graph, places, waiting=None):
    """The buffers of a `deadlock.Dependencies` and who may wait for whom, with its shortest circles marked.

    `places` maps each vertex to (x, y); a buffer sits on its channel, by the end it leads to. `waiting` says which are full,
    as for `graph.verdict`.
    """
