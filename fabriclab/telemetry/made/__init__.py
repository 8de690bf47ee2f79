"""Logs of our own making in the tools' layouts, from model numbers: for notebooks, exercises,
incidents and tests.

Each function formats what its tool would print; `shipped` holds the files of ``notebooks/logs``,
which are written by ``python -m fabriclab.telemetry.made notebooks/logs`` and are the same bytes on
every machine.
"""

from fabriclab.telemetry.made.fabric import ibnetdiscover
from fabriclab.telemetry.made.gpus import dcgmi_dmon, nvidia_smi_dmon
from fabriclab.telemetry.made.nccl import nccl_tests
from fabriclab.telemetry.made.nccl_log import nccl_log
from fabriclab.telemetry.made.pauses import ethtool, pfc_counters, pfcwd_stats
from fabriclab.telemetry.made.perftest import perftest_bandwidth, perftest_latency
from fabriclab.telemetry.made.port import mlxlink, perfquery, ratio
from fabriclab.telemetry.made.shipped import noisy, shipped

__all__ = [
    "dcgmi_dmon",
    "ethtool",
    "ibnetdiscover",
    "mlxlink",
    "nccl_log",
    "nccl_tests",
    "noisy",
    "nvidia_smi_dmon",
    "perfquery",
    "perftest_bandwidth",
    "perftest_latency",
    "pfc_counters",
    "pfcwd_stats",
    "ratio",
    "shipped",
]
