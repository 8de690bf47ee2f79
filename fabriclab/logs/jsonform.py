"""JSON as some tools print it, turned into the lines that they print otherwise, so that one reader
reads both: mlxlink --json and perftest's --out_json.
"""

import json
import re
from collections.abc import Callable, Iterator

from fabriclab.logs.source import Line, Part, lines, refuse

_LARGEST = 4 * 2**20  # characters
OPENS = re.compile(r"^\s*[{\[]\s*(?:\"|$)")


def as_lines(path: Part, told: Callable) -> Iterator:
    """The `Line`s of `path`; each object of JSON in it becomes the lines that `told(object)` gives,
    all with the number of the object's first line.

    Raises ValueError naming file and line for JSON that is cut or broken.
    """
    held, begun, size = None, 0, 0
    decoder = json.JSONDecoder()
    for line in lines(path):
        if held is None and OPENS.match(line.text):
            held, begun, size = [], line.number, 0
        if held is None:
            yield line
            continue
        held.append(line.text)
        size += len(line.text)
        if size > _LARGEST:
            refuse(path, begun, f"more than {_LARGEST // 2**20} MiB of JSON")
        if not re.search(r"[}\]]\s*$", line.text):
            continue
        try:
            found, _ = decoder.raw_decode("\n".join(held).strip())
        except json.JSONDecodeError as error:
            if error.pos < len("\n".join(held).strip()) - 1:
                fault = error
                if not _may_go_on(held):
                    refuse(path, begun + fault.lineno - 1, f"broken JSON: {fault.msg}")
            continue
        except RecursionError:
            refuse(path, begun, "JSON too deep to be a tool's output")
        held = None
        yield from (Line(begun, text, True) for text in told(found))
    if held is not None:
        refuse(path, begun, "the JSON that begins here is cut or broken")


def _may_go_on(held):
    text = "".join(held)
    return text.count("{") > text.count("}") or text.count("[") > text.count("]")


def fields(found: dict[str, dict] | dict[str, int] | dict[str, str], depth: int = 0) -> Iterator:
    """(name, value as text) of all that an object holds, however deep; a list, or mlxlink's
    {"values": […]}, parted by commas.

    >>> list(fields({"a": {"Speed": "IB-EDR", "Lanes": {"values": ["1", "2"]}}}))
    [('Speed', 'IB-EDR'), ('Lanes', '1,2')]
    """
    if depth > 16 or not isinstance(found, dict):
        return
    for key, value in found.items():
        if isinstance(value, dict) and isinstance(value.get("values"), list):
            value = value["values"]
        if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
            yield key, ",".join(map(str, value))
        elif isinstance(value, list):
            for one in value:
                yield from fields(one, depth + 1)
        elif isinstance(value, dict):
            yield from fields(value, depth + 1)
        elif value is not None:
            yield key, str(value)
