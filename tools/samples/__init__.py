"""Logs of our own making in the tools' layouts, from model numbers: for notebooks, exercises,
incidents and tests.

Each function formats what its tool would print; `shipped` holds the files of ``notebooks/logs``,
which are written by ``python -m tools.samples notebooks/logs`` and are the same bytes on
every machine.
"""

from tools.samples.fabric import ibnetdiscover
from tools.samples.gpus import dcgmi_dmon, nvidia_smi_dmon
from tools.samples.nccl import nccl_tests
from tools.samples.nccl_log import nccl_log
from tools.samples.pauses import ethtool, pfc_counters, pfcwd_stats
from tools.samples.perftest import perftest_bandwidth, perftest_latency
from tools.samples.port import mlxlink, perfquery, ratio
from tools.samples.shipped import noisy, shipped

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
