"""What the readers of ibnetdiscover and iblinkinfo fill, line by line, until it is one `Fabric`."""

import re
from collections import defaultdict

from fabriclab.logs.infiniband.fabric import MOST, Fabric, Link, Vertex


class TooMany(Exception):
    """More than a fabric holds."""


class Gatherer:
    """Collects vertices and links as a reader meets them; each cable once, though most files show
    it from both ends.
    """

    def __init__(self):
        self.vertices, self.links, self.down, self.disagreements = {}, {}, {}, []
        self.plugged = {}

    def vertex(self, key, kind=None, name=None, ports=None, lid=None, listed=False):
        """The number of the vertex called `key`, adding to it whatever is new. Raises `TooMany`."""
        if key not in self.vertices and len(self.vertices) >= MOST:
            raise TooMany(f"more than {MOST:,} ports and switches")
        known = self.vertices.setdefault(
            key,
            {
                "number": len(self.vertices),
                "kind": None,
                "name": None,
                "ports": None,
                "lid": None,
                "listed": False,
            },
        )
        for field, value in (("kind", kind), ("name", name), ("ports", ports), ("lid", lid)):
            if known[field] is None and value not in (None, ""):
                known[field] = value
        known["listed"] |= listed
        return known["number"]

    def link(
        self, line, a, a_port, b, b_port, width=None, speed=None, could_be=None, state="Active"
    ):
        """Note a cable; seen again from its other end it stays one. Raises `TooMany`."""
        here, there = (a, a_port), (b, b_port)
        for end, far in ((here, there), (there, here)):
            if self.plugged.setdefault(end, far) != far and len(self.disagreements) < 20:
                self.disagreements.append(
                    f"line {line} plugs port {end[1]} of {self._name(end[0])} elsewhere than an"
                    " earlier line does"
                )
        key = tuple(sorted((here, there)))
        if key not in self.links:
            if len(self.links) >= MOST:
                raise TooMany(f"more than {MOST:,} links")
            cable = {"line": line, "a": a, "a_port": a_port, "b": b, "b_port": b_port}
            self.links[key] = cable | {
                "from": {here},
                "width": width,
                "speed": speed,
                "could_be": could_be,
                "state": state,
            }
            return
        known = self.links[key]
        known["from"].add(here)
        for field, value in (("width", width), ("speed", speed), ("could_be", could_be)):
            if known[field] is None:
                known[field] = value
            elif (
                value is not None
                and value != known[field]
                and field != "could_be"
                and len(self.disagreements) < 20
            ):
                self.disagreements.append(
                    f"lines {known['line']} and {line} give one cable as {known[field]} and as"
                    f" {value}"
                )

    def _name(self, number):
        return next(
            known["name"] or key
            for key, known in self.vertices.items()
            if known["number"] == number
        )

    def fabric(self, tool, path):
        """All that was gathered, as a `Fabric`."""
        ports = defaultdict(set)
        for here, there in self.links:
            ports[here[0]].add(here[1])
            ports[there[0]].add(there[1])
        vertices = []
        for key, known in self.vertices.items():
            used = ports[known["number"]]
            # an end point has a vertex for each of its ports, so what shows several, or a high one,
            # is a switch
            kind = known["kind"] or (
                "switch" if len(used) > 1 or max(used, default=0) > 2 else "host"
            )
            name = known["name"] or key
            if kind == "host" and re.search(r"Aggregation Node", name):
                kind = "aggregation"
            vertices.append(Vertex(kind, name, key, known["listed"], known["ports"], known["lid"]))
        links = tuple(
            Link(
                **{field: value for field, value in known.items() if field != "from"},
                ends=len(known["from"]),
            )
            for known in self.links.values()
        )
        return Fabric(
            tool, path, tuple(vertices), links, tuple(self.down), tuple(self.disagreements)
        )
