"""Topologies up to 100,000 GPUs: time and memory to build and measure them, growth with size, and
the ratio to networkx.

Run it: ``make bench``, or ``python benchmarks/topology_scale.py``. Every ratio is of two times
taken in this run.
"""

import resource
import time

import networkx as nx

from fabriclab.topology import bisection, build, failures, fat_tree, paths, rail_optimised
from fabriclab.units import TB


def timed(call):
    """(result, seconds)."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def measure(make):
    """(network, times of building, bisection, path statistics and failure report,
    the bisection).
    """
    network, built = timed(make)
    cut, cutting = timed(lambda: bisection(network))
    _, walking = timed(lambda: paths(network))
    _, breaking = timed(lambda: failures(network))
    return network, (built, cutting, walking, breaking), cut


def memory():
    """Megabytes at the highest so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    """Print the tables."""
    print(
        f"{'network':38}{'links':>9}{'build':>8}{'cut':>8}{'paths':>8}"
        f"{'failures':>10}{'in all':>8}{'us/link':>9}{'bisection':>14}"
    )
    sizes = [("fat-tree", lambda n=n: build(n, 64)) for n in (4096, 16_384)]
    sizes += [("fat-tree", lambda: fat_tree(64))]
    sizes += [
        ("joined rails, 128 ports", lambda n=n: rail_optimised(n // 8, radix=128))
        for n in (1000, 10_000, 30_000, 100_000)
    ]
    sizes += [
        ("separate rails, 64 ports", lambda n=n: rail_optimised(n // 8, joined=False))
        for n in (1000, 10_000, 30_000, 100_000)
    ]
    build(100, 64), failures(build(100, 8))  # imports and first calls are not part of the growth
    cost = {}
    for kind, make in sizes:
        network, times, cut = measure(make)
        links = sum(network.cables.values())
        cost.setdefault(kind, []).append((links, sum(times)))
        shown = (
            "".join(f"{t:>8.2f}" for t in times[:3])
            + f"{times[3]:>10.2f}{sum(times):>8.2f}{sum(times) / links * 1e6:>9.1f}"
        )
        print(f"{f'{kind}, {network.hosts:,} hosts':38}{links:>9,}{shown}{cut / TB:>11,.1f} TB/s")
    print(f"\nPeak memory {memory():.0f} MB, all of the above in one process.")
    for kind, found in cost.items():
        (few, quick), (many, slow) = found[0], found[-1]
        print(f"{kind}: {many / few:.0f} times the links take {slow / quick:.0f} times as long.")

    tree = fat_tree(24)
    ours = min(timed(lambda: paths(tree))[1] for _ in range(5))
    graph = nx.Graph(zip(tree.a.tolist(), tree.b.tolist(), strict=True))

    def all_pairs():
        total = worst = 0
        for source, far in nx.all_pairs_shortest_path_length(graph):
            if source < tree.hosts:
                away = [d for vertex, d in far.items() if vertex < tree.hosts]
                total, worst = total + sum(away), max(worst, *away)
        return worst, total / tree.hosts / (tree.hosts - 1)

    theirs, slow = timed(all_pairs)
    assert (
        theirs[0] == paths(tree).links_on_path.worst
        and abs(theirs[1] - paths(tree).links_on_path.mean) < 1e-9
    )
    print(
        f"\nPath statistics, fat-tree k = 24 ({tree.hosts:,} hosts): networkx all pairs {slow:.1f}"
        f" s, fabriclab {ours * 1e3:.1f} ms: {slow / ours:,.0f} times faster, the same numbers."
    )


if __name__ == "__main__":
    main()
