"""The packet simulator's speed: against SimPy and against a heap in plain Python, how cost grows
with packets, and large networks.

Run it: ``make bench``, or ``python benchmarks/packet_speed.py``. Ratios are of processor times
taken in this run: the two take turns, and the median over the rounds is printed, since a busy
neighbour slows a machine for seconds at a time. Other times are the best of three.

htsim, for comparison (github.com/Broadcom/csg-htsim, g++ 12.2 -O3, one of two cores, 2026; wall
seconds as shipped, 100 Gb/s, line rate with PFC, beside the first release of this simulator on the
same work): one queue of 600,000 packets 0.62 against 0.13; incast of 64 over a leaf-spine of 128
hosts 1.10 against 0.26; a permutation on a fat-tree of 128 hosts 6.5 against 1.04; the permutation
of 1,024 hosts below 570 against 65. About half of htsim's events are acknowledgements, which here
take no bandwidth: without them it takes 0.29, 0.52 and 2.9.
"""

import heapq
import multiprocessing
import resource
import time

import numpy as np
import simpy

from fabriclab.congestion import Dcqcn, md1_wait
from fabriclab.packets import Flows, Pfc, incast, run
from fabriclab.topology import build, fat_tree, leaf_spine, torus
from fabriclab.units import KB, MB, Gbps, ns

LINE, PACKET = 100 * Gbps, 1000
SERVICE = PACKET / LINE


def seconds(call, times=3):
    """(result, least processor seconds)."""
    best = np.inf
    for _ in range(times):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return result, best


def in_turn(theirs, ours, rounds=7):
    """(their result, ours, their least seconds, our least, the median of theirs over ours)."""
    spent = []
    for _ in range(rounds):
        (them, slow), (us, fast) = seconds(theirs, times=1), seconds(ours)
        spent.append((slow, fast))
    slow, fast = np.array(spent).T
    return them, us, slow.min(), fast.min(), float(np.median(slow / fast))


def simpy_queue(gaps):
    """Mean wait at one M/D/1 queue, as SimPy's own examples write one."""
    env, waits = simpy.Environment(), []
    port = simpy.Resource(env, 1)

    def packet():
        came = env.now
        with port.request() as turn:
            yield turn
            waits.append(env.now - came)
            yield env.timeout(SERVICE)

    def source():
        for gap in gaps:
            yield env.timeout(gap)
            env.process(packet())

    env.process(source())
    env.run()
    return sum(waits) / len(waits)


def our_queue(gaps):
    """The same at a host's port, each packet a flow of its own; all of `run`, setting up and
    counting included.
    """
    result = run(torus((2,), bandwidth=LINE), Flows(0, 1, PACKET, np.cumsum(gaps)), delay=0)
    return float(result.completion.mean()) - SERVICE


def plain_heap(leaves, down, packets, delay=500 * ns):
    """All hosts of the other leaves send to host 0 through one spine: the least that a heap, lines
    and ports can do in plain Python.
    """
    hosts = leaves * down
    paths = [
        [("up", h), ("leaf", h // down), ("spine", 0), ("down", 0)] for h in range(down, hosts)
    ]
    lines, free, heap, order, done = {}, {}, [], 0, 0

    def arrive(now, packet):
        nonlocal order
        port = packet[0][packet[1]]
        lines.setdefault(port, []).append(packet)
        if len(lines[port]) == 1:
            order += 1
            heapq.heappush(heap, (max(now, free.get(port, 0.0)) + SERVICE, order, port))

    for path in paths:
        for _ in range(packets):
            arrive(0.0, [path, 0])
    lines = {port: list(line) for port, line in lines.items()}
    heads = dict.fromkeys(lines, 0)
    while heap:
        now, _, what = heapq.heappop(heap)
        if isinstance(what, list):
            port = what[0][what[1]]
            line = lines.setdefault(port, [])
            line.append(what)
            if len(line) - heads.setdefault(port, 0) == 1:
                order += 1
                heapq.heappush(heap, (max(now, free.get(port, 0.0)) + SERVICE, order, port))
            continue
        line = lines[what]
        packet = line[heads[what]]
        heads[what] += 1
        free[what] = now
        if heads[what] < len(line):
            order += 1
            heapq.heappush(heap, (now + SERVICE, order, what))
        packet[1] += 1
        if packet[1] == len(packet[0]):
            done = now
        else:
            order += 1
            heapq.heappush(heap, (now + delay, order, packet))
    return done + delay


def permutation(hosts):
    """Targets for hosts 0, 1, 2 ...: everybody sends to one other, in one circle."""
    order = np.random.default_rng(1).permutation(hosts)
    target = np.empty(hosts, int)
    target[order] = np.roll(order, -1)
    return target


def thousand_hosts(size=10 * MB):
    """1,024 hosts, a permutation under PFC and DCQCN, 6 links at most."""
    dcqcn = Dcqcn(kmin=100 * KB, kmax=400 * KB, pmax=0.2)
    flows = Flows(np.arange(1024), permutation(1024), size)
    return run(
        fat_tree(16, bandwidth=LINE),
        flows,
        congestion=dcqcn,
        pfc=Pfc(15 * PACKET, 12 * PACKET),
        until=10.0,
    )


def many_hosts():
    """16,384 hosts, three tiers, everybody sends 400 kB in packets of 4 kB, stopped after 1 ms."""
    network = build(16_384, radix=64, bandwidth=LINE)
    flows = Flows(np.arange(16_384), permutation(16_384), 400 * KB)
    return run(network, flows, packet=4000, until=1e-3)


def apart(call):
    """(`Run`'s events, bytes, outcome and pauses; processor seconds, peak MB) of one call, in a
    process of its own.
    """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (call,))


def _measured(call):
    run(torus((2,)), Flows(0, 1, 1))
    start = time.process_time()
    end = call()
    spent = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return end.events, int(end.delivered.sum()), end.outcome, int(end.pauses.sum()), spent, peak


def main():
    """Print the table."""
    run(torus((2,)), Flows(0, 1, 1))  # load or compile the core
    gaps = np.random.default_rng(0).exponential(SERVICE / 0.8, 300_000)
    theirs, ours, slow, fast, ratio = in_turn(
        lambda: simpy_queue(gaps[:20_000].tolist()), lambda: our_queue(gaps)
    )
    same = our_queue(gaps[:20_000])
    print("One M/D/1 queue at load 0.8, Poisson arrivals")
    print(f"  SimPy      {20_000 / slow:>12,.0f} packets/s, mean wait {theirs / ns:.1f} ns")
    print(
        f"  fabriclab  {gaps.size / fast:>12,.0f} packets/s, mean wait {same / ns:.1f} ns for the"
        f" same packets; {ours / ns:.1f} ns for all, {md1_wait(0.8, SERVICE) / ns:.1f} in theory"
    )
    print(f"  ratio      {ratio * gaps.size / 20_000:>12.1f}, at least 40 wanted")

    leaves, down, each = 4, 8, 5000
    tree, senders = leaf_spine(leaves, 1, down, 1, bandwidth=LINE), np.arange(down, leaves * down)
    count = senders.size * each
    theirs, ours, slow, fast, ratio = in_turn(
        lambda: plain_heap(leaves, down, each),
        lambda: run(tree, Flows(senders, 0, each * PACKET), buffer=1e9),
    )
    print(f"Incast of {senders.size} over leaf-spine, {count:,} packets on 4 ports each")
    print(
        f"  plain heap {count / slow:>12,.0f} packets/s, ends at {theirs * 1e6:.1f} us, without"
        " buffers, pauses, routes or counts"
    )
    print(f"  fabriclab  {count / fast:>12,.0f} packets/s, ends at {ours.duration * 1e6:.1f} us")
    print(f"  ratio      {ratio:>12.1f}, at least 20 wanted")

    many, spent = seconds(lambda: incast(256, size=250 * KB, bandwidth=400 * Gbps, buffer=32 * MB))
    print(
        f"256 into 1, 64 MB through a buffer of 32 MB: {spent:.3f} s, {int(many.pauses.sum()):,}"
        f" pauses, {int(many.dropped.sum())} bytes dropped"
    )

    print("Growth: 16 into 1")
    for packets in (10_000, 100_000, 1_000_000, 10_000_000):
        end, spent = seconds(
            lambda n=packets: incast(16, size=n // 16 * PACKET), times=3 if packets < 1e6 else 1
        )
        print(
            f"  {packets:>12,} packets {spent:8.3f} s {spent / packets * 1e9:8.0f} ns each,"
            f" {end.events / packets:.2f} events each"
        )

    for name, call in (
        (
            "1,024 hosts, permutation, PFC and DCQCN, 10 MB each (at most 25 s, 400 MB wanted)",
            thousand_hosts,
        ),
        ("16,384 hosts, permutation, 400 KB each, 1 ms", many_hosts),
    ):
        events, bytes_, outcome, pauses, spent, peak = apart(call)
        print(
            f"{name}: {outcome}, {bytes_ / MB:,.0f} MB, {pauses:,} pauses, {events:,} events,"
            f" {spent:.1f} s, {spent / events * 1e9:.0f} ns/event, peak {peak:.0f} MB"
        )


if __name__ == "__main__":
    main()
