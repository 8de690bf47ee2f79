"""Level 4, how a fabric behaves under load: queues, incast, stragglers, congestion control,
hashing.
"""

from fabriclab.congestion.bsp import (
    idle_workers,
    slowest_mean,
    slowest_quantile,
    slowest_simulated,
    stale_descent,
    stale_limit,
    step_with_hiccups,
    straggler_cost,
)
from fabriclab.congestion.dcqcn import (
    Dcqcn,
    FixedPoint,
    Trajectory,
    cube_root_marking,
    fixed_point,
    trajectory,
)
from fabriclab.congestion.ecmp import (
    all_to_all_flows,
    even_split,
    fullest_path,
    idle_path,
    mean_fullest,
    mean_speed,
    reordering,
)
from fabriclab.congestion.fattree import CHOICES, permutation_slowdown
from fabriclab.congestion.hpcc import (
    Rounds,
    most_windows,
    next_window,
    rounds,
    steady_queue,
    steady_rate,
)
from fabriclab.congestion.incast import (
    MAX_QUANTA,
    RESPONSE_QUANTA,
    bandwidth_delay_product,
    cell_waste,
    feedback_backlog,
    largest_fan_in,
    offered_load,
    pause_signal_time,
    pause_spread_time,
    pause_time,
    peer_response,
    pfc_headroom,
    staggered_peak,
)
from fabriclab.congestion.queue import (
    Trace,
    drain_time,
    fill_time,
    fluid_queue,
    md1_wait,
    overflow,
    queue_after,
    wait,
)

__all__ = [
    name
    for name in dir()
    if not name.startswith("_")
    and name not in ("bsp", "dcqcn", "ecmp", "fattree", "hpcc", "incast", "queue")
]
