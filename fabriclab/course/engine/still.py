"""One moment of a scene as an SVG picture: what a page shows where no script may run."""

from html import escape

import numpy as np

FONT = "'DejaVu Sans',Verdana,sans-serif"


def _number(value):
    return f"{round(float(value), 1):g}"


def head(x1, y1, x2, y2, size):
    """The three corners of an arrow's head at (x2, y2), in the direction of the line."""
    turn = np.arctan2(y2 - y1, x2 - x1)
    return [
        (x2 - reach * np.cos(turn + by), y2 - reach * np.sin(turn + by))
        for by, reach in ((0, -size / 3), (0.5, size), (-0.5, size))
    ]


def picture(scene, value, colours):
    """`scene` at a `value` of its axis, in `colours` by role."""
    paint = lambda role: colours.get(str(role), "none")
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {scene.width} {scene.height}"'
        f' width="{scene.width}" height="{scene.height}" font-family="{FONT}">'
        f'<rect width="100%" height="100%" fill="{colours["paper"]}"/>'
    ]
    for name, (kind, shapes, attributes, _) in scene.groups.items():
        here = {a: scene.values(name, a, value) for a in attributes}
        for i in range(1 if kind == "path" else shapes):
            get = lambda a, default=0: here[a][i] if a in here else default  # noqa: B023
            alpha = min(1.0, float(get("alpha", 1.0)))
            if alpha <= 0.004:
                continue
            fade = "" if alpha == 1 else f' opacity="{alpha:.2f}"'
            out.append(_shape(kind, here, get, paint, fade))
    return "".join(out) + "</svg>"


def _shape(kind, here, get, paint, fade):
    n = _number
    if kind == "text":
        anchor = {"left": "start", "right": "end"}.get(str(get("align", "center")), "middle")
        bold = ' font-weight="bold"' if get("bold") else ""
        return (
            f'<text x="{n(get("x"))}" y="{n(get("y") + 0.36 * float(get("size", 12)))}" font-size="'
            f'{n(get("size", 12))}" text-anchor="{anchor}"{bold} fill="{paint(get("fill", "ink"))}'
            f'"{fade}>{escape(str(get("text", "")))}</text>'
        )
    line, stroke = float(get("line")), paint(get("stroke", "ink"))
    edge = f' stroke="{stroke}" stroke-width="{n(line)}"' if line else ""
    if kind == "rect":
        return (
            f'<rect x="{n(get("x"))}" y="{n(get("y"))}" width="{n(max(0, get("w")))}" height="'
            f'{n(max(0, get("h")))}" rx="{n(get("round"))}" fill="{paint(get("fill", ""))}"'
            f"{edge}{fade}/>"
        )
    if kind == "circle":
        return (
            f'<circle cx="{n(get("x"))}" cy="{n(get("y"))}" r="{n(max(0, get("r")))}" fill="'
            f'{paint(get("fill", ""))}"{edge}{fade}/>'
        )
    if kind == "path":
        points = list(zip(*(here[c] for c in "xy")))
    else:
        points = [(get("x"), get("y")), (get("x2"), get("y2"))]
    dash = get("dash")
    if dash:
        edge += (
            f' stroke-dasharray="{n(dash)} {n(get("gap") or dash)}" stroke-dashoffset="'
            f'{n(-get("offset"))}"'
        )
    told = " ".join(f"{n(x)},{n(y)}" for x, y in points)
    drawn = f'<polyline points="{told}" fill="none"{edge}{fade}/>'
    if get("head"):
        corners = " ".join(
            f"{n(x)},{n(y)}" for x, y in head(*points[-2], *points[-1], float(get("head")))
        )
        drawn += f'<polygon points="{corners}" fill="{stroke}"{fade}/>'
    return drawn
