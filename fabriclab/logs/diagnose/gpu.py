"""Step 1, GPU utilisation: do the GPUs work, wait in a kernel, or have none? And what the job
itself tells.
"""

from fabriclab.logs import gpus
from fabriclab.logs.diagnose.evidence import TOLD, Evidence
from fabriclab.logs.diagnose.finding import SLOWER, Finding
from fabriclab.units import si


def gpu(evidence: Evidence) -> list:
    """Step 1: do the GPUs work, wait in a kernel, or have none? (What stands out their reader
    tells.)
    """
    told, found = evidence.told, []
    for file, reading in evidence.of(gpus.Reading):
        state = gpus.state(reading)
        if state == "full":
            found.append(Finding(1, "gpu-full", gpus.saying(reading), file))
        elif state in ("busy", "dense"):
            found.append(Finding(1, "gpu-busy", gpus.saying(reading), file))
        elif state in ("begins", "unclear"):
            found.append(Finding(1, "gpu-unclear", gpus.saying(reading), file))
    if told.synthetic and told.now and told.before:
        found.append(_input(told))
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


def _input(told):
    says = (
        f"with made-up input a step takes {si(told.synthetic, 's')}, with files"
        f" {si(told.now, 's')}: the input is "
    )
    if told.now / told.synthetic < SLOWER:
        return Finding(1, "input-cleared", says + "not what it waits for", TOLD)
    if told.synthetic <= told.before * SLOWER:
        return Finding(1, "input-cures", says + "what it waits for", TOLD)
    return Finding(1, "input-partly", says + "a part of what it waits for", TOLD)
