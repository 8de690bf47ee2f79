"""perftest's --out_json as the table that it prints otherwise.

The object names the test and its settings under "test_info" and one row, or a list of rows, under
"results" (older versions put them side by side). It names no unit: MB/s of 2^20 bytes, or Gb/s with
--report_gbits; message rate times size tells which.
"""

import re
from collections.abc import Iterator

from fabriclab.logs.jsonform import fields
from fabriclab.units import Gbps, MiB

_SETTINGS = {
    "Device": "Device         : {}",
    "Link_type": "Link type       : {}",
    "Mtu": "Mtu             : {}[B]",
    "Number_of_qps": "Number of qps   : {}",
    "Connection_type": "Connection type : {}",
    "Use_ROCm_memory": "Use ROCm memory : {}",
    "Use_CUDA_memory": "Use CUDA memory : {}",
    "cuda_device": "CUDA device     : {}",  # only where GPU memory is used
    "Dual_port": "Dual-port       : {}",
}
_LATENCY = ("t_min", "t_max", "t_typical", "t_avg", "t_stdev", "99%_percentile", "99.9%_percentile")
_TITLE = re.compile(
    r"(RDMA_Write|RDMA_Read|Send|Atomic|SEND)\w*?(_Bidirectional)?_(BW|Lat)\w*", re.I
)


def told(found: dict[str, dict]) -> Iterator:
    """The lines of a result, none for JSON of something else."""
    info = {key: value for key, value in fields(found.get("test_info", found))}
    rows = found.get("results") or found.get("Results") or []
    rows = rows if isinstance(rows, list) else [rows]
    rows = [_numbers(row) for row in rows]
    rows = [row for row in rows if row.get("MsgSize") and row.get("n_iterations") is not None]
    if title := _TITLE.match(info.get("test", "")):
        verb = {"rdma_write": "RDMA_Write", "rdma_read": "RDMA_Read"}.get(title[1].lower())
        verb = verb or title[1].capitalize()
        both = " Bidirectional" if "bidirectional" in info["test"].lower() else ""
        yield f" {verb}{both} {'BW' if title[3].lower() == 'bw' else 'Latency'} Test"
    for key, words in _SETTINGS.items():
        if key in info:
            yield " " + words.format(info[key])
    if rows and "BW_average" in rows[0]:
        unit = _unit(rows)
        yield f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]"
        for row in rows:
            peak, rate = row.get("BW_peak", 0.0), row.get("MsgRate", 0.0)
            yield (
                f" {row['MsgSize']:.0f} {row['n_iterations']:.0f} {peak:.2f}"
                f" {row['BW_average']:.6f} {rate:.6f}"
            )
    elif rows:
        columns = [key for key in _LATENCY if key in rows[0]]
        names = [key.replace("%_", "% ") + "[usec]" for key in columns]
        yield f" #bytes #iterations {' '.join(names)}"
        for row in rows:
            cells = " ".join(f"{row.get(key, 0.0):.2f}" for key in columns)
            yield f" {row['MsgSize']:.0f} {row['n_iterations']:.0f} {cells}"


def _numbers(row):
    return {
        key: float(value)
        for key, value in fields(row)
        if re.fullmatch(r"\d{1,20}(?:\.\d{1,12})?", value)
    }


def _unit(rows):
    """The unit in which size times message rate comes nearest to the average."""

    def off(unit):
        return sum(
            abs(row["BW_average"] * unit / (row["MsgSize"] * row["MsgRate"] * 1e6) - 1)
            for row in rows
            if row.get("MsgRate")
        )

    return "Gb/sec" if off(Gbps) < off(MiB) else "MB/sec"
