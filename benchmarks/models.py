"""What the package costs before it computes anything, and what its checks cost when it does.

`import fabriclab` against `import numpy`, each as a whole process; one ring AllReduce over 10,000
sizes against the bare numpy expression. Ratios of medians, taken in turn within one run.
"""

import statistics
import subprocess
import sys
import time
import timeit

import numpy as np

from fabriclab import collectives
from fabriclab.units import GB, us


def seconds(statement):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def imports(rounds=15):
    """Median seconds of whole processes: {statement: seconds}."""
    statements = ("import numpy", "import fabriclab", "from fabriclab import collectives")
    times = {statement: [] for statement in statements}
    for _ in range(rounds):
        for statement in statements:
            times[statement].append(seconds(statement))
    return {statement: statistics.median(taken) for statement, taken in times.items()}


def sweep(rounds=15, calls=400):
    """Median seconds of one ring over 10,000 sizes: (bare numpy, collectives.ring_allreduce)."""
    size, ranks, alpha, beta = np.geomspace(1, 10 * GB, 10_000), 1024, 1.5 * us, 50 * GB
    bare = timeit.Timer(lambda: 2 * (ranks - 1) / ranks * size / beta + 2 * (ranks - 1) * alpha)
    ours = timeit.Timer(lambda: collectives.ring_allreduce(size, ranks, alpha, beta))
    pairs = [(bare.timeit(calls) / calls, ours.timeit(calls) / calls) for _ in range(rounds)]
    return tuple(statistics.median(column) for column in zip(*pairs))


if __name__ == "__main__":
    taken = imports()
    for statement, value in taken.items():
        print(
            f"{statement:36} {1e3 * value:7.1f} ms   {value / taken['import numpy']:.2f} of import"
            " numpy"
        )
    bare, ours = sweep()
    print(
        f"ring AllReduce over 10,000 sizes: bare numpy {1e6 * bare:.1f} us, fabriclab"
        f" {1e6 * ours:.1f} us: {ours / bare:.2f} times (goal: at most 3)"
    )
