"""The reading guide: for each heading of the two texts, what to read here and how long it takes.

`headings.txt` holds the headings letter by letter, `notebooks.txt` the notebooks and their
sections. Exercises and their minutes come from the exercises' own levels.
"""

import functools
import html
from dataclasses import dataclass
from importlib import resources

from fabriclab.course.engine.exercises import bank, levels

OBJECTIVES = {
    1: "model what communication costs with alpha and beta",
    2: "compare transports by latency, loss and the work they make",
    3: "judge a topology by its bisection and its hops",
    4: "judge congestion control by what it does to the tail",
    5: "share a cluster's network between tenants",
    6: "find a bottleneck with counters and tests",
}


@dataclass(frozen=True)
class Notebook:
    """A notebook: its file without ending, its minutes without exercises, {section: cell id}."""

    file: str
    minutes: int
    sections: dict

    def share(self):
        """Minutes of one section: the notebook's, spread evenly over all but its errata."""
        return self.minutes / sum(cell != "errata" for cell in self.sections.values())


@dataclass(frozen=True)
class Heading:
    """A heading of a text as printed. `level` is 1 (the title) to 4, or 5 for a box; `places` are
    sections ("3.4") or whole notebooks ("03"); `objectives` are keys of OBJECTIVES.
    """

    text: str
    level: int
    title: str
    places: tuple[str, ...]
    objectives: tuple[int, ...]
    read: str

    def exercises(self):
        """The ids of the exercises that belong to the places, from easy to hard.

        >>> find("Napkin Math 1.1: Alpha-beta 交叉").exercises()[0]
        'transport.crossover'
        """
        known = ((name, levels.of(name)) for name in bank.ids())
        return levels.in_order(name for name, level in known if level and self._holds(level))

    def _holds(self, level):
        return level.section in self.places or f"{_part(level.section):02}" in self.places

    def minutes(self):
        """Whole minutes: the sections' shares of their notebooks, and the exercises'."""
        books = notebooks()
        reading = sum(
            books[f"{_part(place):02}"].share() if "." in place else books[place].minutes
            for place in self.places
        )
        return round(reading + sum(levels.of(name).minutes for name in self.exercises()))


def _part(section):
    return int(section.split(".")[0])


def _lines(name):
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@functools.cache
def headings():
    """Every `Heading` of both texts, in order."""
    found, text = [], ""
    for line in _lines("headings.txt"):
        if line.startswith("= "):
            text = line[2:]
            continue
        level, title, places, objectives, read = (cell.strip() for cell in line.split(" |"))
        numbers = tuple(int(number) for number in objectives.split())
        found.append(Heading(text, int(level), title, tuple(places.split()), numbers, read))
    return tuple(found)


@functools.cache
def notebooks():
    """{number: Notebook}, both as in the files' names.

    >>> notebooks()["03"].minutes, notebooks()["03"].sections["3.1"]
    (70, 'rdma')
    """
    found = {}
    for line in _lines("notebooks.txt"):
        first, _, rest = line.partition(" ")
        if "." in first:
            found[max(found)].sections[first] = rest
        else:
            found[first[:2]] = Notebook(first, int(rest), {})
    return found


def find(title: str) -> Heading:
    """The heading that reads `title`. Raises ValueError if no text has it."""
    for heading in headings():
        if heading.title == title:
            return heading
    raise ValueError(f"no heading of the two texts reads {title!r}")


def link(place: str) -> str:
    """Where a place is, beside notebook 00.

    >>> link("03"), link("2.1")
    ('03-transport.ipynb', '02-wires-and-links.ipynb#cell-id=pam4')
    """
    if "." not in place:
        return f"{notebooks()[place].file}.ipynb"
    book = notebooks()[f"{_part(place):02}"]
    return f"{book.file}.ipynb#cell-id={book.sections[place]}"


class Guide:
    """The guide as a table, one row a heading: with links in a notebook, plain elsewhere. Minutes
    of a section that goes with two headings are counted at both.
    """

    COLUMNS = ("The text's heading", "What to read", "Where", "Exercises", "Min", "Objectives")

    def _rows(self, mark):
        for heading in headings():
            names = heading.exercises()
            whole = any("." not in place for place in heading.places)
            yield (
                heading,
                " ".join(mark(place) for place in heading.places) or "-",
                f"all {len(names)}" if whole and names else ", ".join(names) or "-",
                str(heading.minutes() or "-"),
                " ".join(map(str, heading.objectives)) or "-",
            )

    def _repr_markdown_(self):
        lines = [f"**Objectives**: {_objectives()}."]
        text = ""
        for heading, *cells in self._rows(lambda place: f"[{place}]({link(place)})"):
            if heading.text != text:
                text = heading.text
                lines += ["", f"**The {text}**", "", _markdown(self.COLUMNS)]
                lines += [_markdown("---" for _ in self.COLUMNS)]
            title = html.escape(heading.title, quote=False)
            bold = f"**{title}**" if heading.level <= 2 else title
            lines += [_markdown([bold, heading.read, *cells])]
        return "\n".join(lines)

    def __repr__(self):
        lines = [f"Objectives: {_objectives()}."]
        for heading, where, names, minutes, objectives in self._rows(str):
            lines += [
                f"{'  ' * (heading.level - 1)}{heading.title}: {heading.read}"
                f" | {where} | {names} | {minutes} min | {objectives}"
            ]
        return "\n".join(lines)


def _objectives():
    return "; ".join(f"{number} {words}" for number, words in OBJECTIVES.items())


def _markdown(cells):
    return "| " + " | ".join(cells) + " |"
