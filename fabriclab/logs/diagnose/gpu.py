"""Step 1, GPU utilisation: do the GPUs work, wait in a kernel, or have none? And what the job
itself tells.
"""

from fabriclab.logs import gpus
from fabriclab.logs.diagnose.evidence import TOLD
from fabriclab.logs.diagnose.finding import SLOWER, Finding
from fabriclab.units import si


def gpu(evidence):
    """Step 1: do the GPUs work, wait in a kernel, or have none?"""
    told, found = evidence.told, []
    for file, reading in evidence.of(gpus.Reading):
        busy, active = reading.mean("busy"), reading.mean("active")
        numbers = ", ".join(
            f"{words} {value:.0%}"
            for words, value in (("a kernel ran", busy), ("of the multiprocessors at work", active))
            if value is not None
        )
        if active is not None and active >= gpus.BUSY:
            sign = "gpu-full"
        elif busy is None:
            sign = "gpu-unclear"
        elif busy >= gpus.BUSY:
            sign = "gpu-waits" if active is not None and active < 0.8 * busy else "gpu-busy"
        else:
            sign = (
                "gpu-low"
                if active is None
                else "gpu-holes"
                if active >= 0.8 * busy
                else "gpu-unclear"
            )
        found.append(Finding(1, sign, f"{numbers}: {gpus.saying(reading)}", file))
    if told.synthetic and told.now and told.before:
        gains, whole = told.now / told.synthetic >= SLOWER, told.synthetic <= told.before * SLOWER
        sign, so = (
            ("input-cleared", "not what it waits for")
            if not gains
            else (
                ("input-cures", "what it waits for")
                if whole
                else ("input-partly", "a part of what it waits for")
            )
        )
        found.append(
            Finding(
                1,
                sign,
                f"with made-up input a step takes {si(told.synthetic, 's')}, with files"
                f" {si(told.now, 's')}: the input is {so}",
                TOLD,
            )
        )
    if told.before and told.now and told.now / told.before >= SLOWER:
        found.append(
            Finding(
                1,
                "slow",
                f"a step takes {si(told.now, 's')}, {told.now / told.before - 1:.0%} more than the"
                f" {si(told.before, 's')} before",
                TOLD,
            )
        )
    return found
