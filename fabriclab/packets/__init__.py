"""The packet simulator: every packet of every flow, on any `topology`, through queues that mark,
pause and drop.

`run` a set of `Flows`, or an `incast`; see `engine` for how it works. The first run loads the
compiled core, or compiles it (some ten seconds, once per machine).
"""

from fabriclab.packets.network import Flows, Lanes
from fabriclab.packets.run import Run, incast, run
from fabriclab.packets.settings import Credits, Hpcc, Pfc, Trim

__all__ = ["Credits", "Flows", "Hpcc", "Lanes", "Pfc", "Run", "Trim", "incast", "run"]
