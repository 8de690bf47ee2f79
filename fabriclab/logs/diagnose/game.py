"""An incident as a game: a symptom is shown, each measurement costs minutes, and whoever plays
names the cause.

`Game` is the game itself; `play` is its face in a terminal, and
`fabriclab.course.monitoring.game` that in a notebook.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fabriclab import logs
from fabriclab.logs import samples
from fabriclab.logs.diagnose.causes import CAUSES
from fabriclab.logs.diagnose.evidence import TOLD, Told, read_told
from fabriclab.logs.diagnose.walk import diagnose
from fabriclab.logs.page import wrap
from fabriclab.units import si

HEALTHY = "nothing is wrong"
# Minutes that a measurement takes with the nodes at hand, our estimates, by the reader's tool
MINUTES = {
    "GPU activity": 2,
    "nccl-tests": 15,
    "NCCL's log": 5,
    "NCCL topology": 2,
    "perftest": 10,
    "all-pairs bandwidth": 45,
    "PFC counters": 3,
    "PFC watchdog": 2,
    "perfquery": 3,
    "mlxlink": 10,
    "ibnetdiscover": 5,
    "iblinkinfo": 5,
}
_OTHER = 10


@dataclass(frozen=True)
class Choice:
    """A measurement that can be made: the `file` it fills, its `tool`, and the `minutes` it
    takes.
    """

    file: str
    tool: str
    minutes: int

    def __str__(self):
        return f"{self.file} ({self.tool}), {self.minutes} min"


class Game:
    """One incident, played: the files of `folder` lie face down until they are measured.

    `seen` are the files measured so far with what they say, `minutes` what that took, `answer` the
    cause that was named, None until then. Raises ValueError for what `diagnose` cannot read.

    >>> game = Game("notebooks/incidents/06-juniper")  # doctest: +SKIP
    >>> game.symptom  # doctest: +SKIP
    'A training step takes 10.7 s; it took 5.2 s before. ...'
    """

    def __init__(self, folder):
        self.folder, self.found = Path(folder), diagnose(folder)
        self.told = read_told(self.folder / TOLD) if (self.folder / TOLD).exists() else Told()
        files = sorted(
            name for name in os.listdir(self.folder) if not name.startswith(".") and name != TOLD
        )
        self._choices = {file: self._choice(file) for file in files}
        self.seen, self.minutes, self.answer = {}, 0, None

    def _choice(self, file):
        try:
            tool = logs.recognise(self.folder / file).TOOL
        except ValueError:
            tool = "a tool not known here"
        return Choice(file, tool, MINUTES.get(tool, _OTHER))

    @property
    def causes(self):
        """What can be named, in words: every cause of the table, or that nothing is wrong."""
        return (*(cause.name for cause in CAUSES.values()), HEALTHY)

    @property
    def symptom(self):
        """What is known before anything is measured."""
        told, job = self.told, []
        if told.nodes:
            job.append(f"{told.nodes} nodes")
        if told.ports_per_node:
            job.append(f"{told.ports_per_node} ports per node")
        if told.port:
            job.append(f"{si(told.port, 'b/s')} per port")
        says = (
            f"A training step takes {si(told.now, 's')}; it took {si(told.before, 's')} before."
            if told.now and told.before
            else "The owner of a job asks whether all is well, and has no times to show."
        )
        return says + (f" The job: {', '.join(job)}." if job else "")

    @property
    def choices(self):
        """The measurements not yet made."""
        return tuple(one for file, one in self._choices.items() if file not in self.seen)

    def measure(self, file):
        """Make a measurement: its minutes are charged, and what the file says is returned. The same
        one again costs nothing. Raises ValueError for a file that is not here.
        """
        if file not in self._choices:
            raise ValueError(f"file must be one of {', '.join(self._choices)}, not {file!r:.60}")
        if file not in self.seen:
            self.minutes += self._choices[file].minutes
            try:
                self.seen[file] = logs.report(self.folder / file)
            except ValueError as error:
                self.seen[file] = str(error).removeprefix(str(self.folder / file)).lstrip(",: ")
        return self.seen[file]

    def name(self, cause):
        """Name the cause, one of `causes`: how that compares with what `diagnose` finds in all of
        the files, in a few lines. Raises ValueError for another word.
        """
        if cause not in self.causes:
            raise ValueError(f"cause must be one of {', '.join(self.causes)}, not {cause!r:.60}")
        self.answer = cause
        all_minutes = sum(one.minutes for one in self._choices.values())
        lines = [
            f"You say: {cause}, after {self.minutes} of {all_minutes} minutes and {len(self.seen)}"
            f" of {len(self._choices)} measurements.",
            f"diagnose, with all of them: {self.found.verdict}.",
            self._compared(),
        ]
        for words, findings in (
            ("for", self.found.evidence_for),
            ("against", self.found.evidence_against),
        ):
            if self.found.cause:
                lines += [
                    f"  {words}: {finding.file}: {finding.says}"
                    + ("" if finding.file in (*self.seen, TOLD) else " (you had not measured it)")
                    for finding in findings[:3]
                ]
        return "\n".join(lines)

    @property
    def right(self):
        """Whether the cause named is the one that `diagnose` finds; None before, and where it finds
        none.
        """
        truth = HEALTHY if self.found.confidence == "healthy" else self.found.cause
        return self.answer == truth if self.answer and truth else None

    def _compared(self):
        if self.right is None:
            return "It cannot decide either, so nobody is right or wrong."
        if not self.right:
            return "That is another cause: see what speaks for it."
        deciding = {finding.file for finding in self.found.evidence_for} - {TOLD}
        if self.found.cause and not deciding & set(self.seen):
            return "Right, though you had measured nothing that shows it."
        return "Right."


def play(game: Game, ask: Callable | None = None, show: Callable = print) -> int:
    """Play `game` in a terminal: numbers choose a measurement, "c" names the cause, "q" or the end
    of input gives up. The exit status: 0 right or undecided, 1 wrong, 2 given up.
    """
    ask = ask or input
    show(wrap(game.symptom))
    while True:
        choices = game.choices
        show("\n".join(["", *(f" {at:2} {one}" for at, one in enumerate(choices, 1))]))
        show("  c name the cause    q give up")
        answer = _asked(ask, f"[{game.minutes} min] next: ")
        if answer in (None, "q"):
            show("given up: nothing was named")
            return 2
        if answer == "c":
            if (status := _name(game, ask, show)) is not None:
                return status
        elif answer.isdigit() and 1 <= int(answer) <= len(choices):
            show(wrap(game.measure(choices[int(answer) - 1].file)))
        else:
            show("type a number of the list, c or q")


def _name(game, ask, show):
    """Ask for the cause; None to go on measuring."""
    show("\n".join(f" {at:2} {cause}" for at, cause in enumerate(game.causes, 1)))
    answer = _asked(ask, "cause (Enter to go back): ")
    if not (answer and answer.isdigit() and 1 <= int(answer) <= len(game.causes)):
        return None
    show(wrap(game.name(game.causes[int(answer) - 1])))
    return 1 if game.right is False else 0


def _asked(ask, prompt):
    try:
        return ask(prompt).strip().lower()
    except (EOFError, KeyboardInterrupt):
        return None


def find(name: str | None = None) -> Path:
    """The folder of an incident: `name` as a path, or the name of one among the notebooks'; without
    it, one of these by chance. Raises ValueError where there is none.
    """
    import random

    homes = [
        Path("notebooks/incidents"),
        Path("incidents"),
        Path("../notebooks/incidents"),
        *(place / "incidents" for place in samples.HOMES),
    ]
    home = next((one for one in homes if one.is_dir()), None)
    there = sorted(one.name for one in home.iterdir() if one.is_dir()) if home else []
    if name is None and there:
        return home / random.choice(there)
    if name is not None and Path(samples.at(name)).is_dir():
        return Path(samples.at(name))
    if name in there:
        return home / name
    known = f"; the notebooks have {', '.join(there)}" if there else ""
    raise ValueError(f"{name or 'incident'}: no folder of an incident here{known}")
