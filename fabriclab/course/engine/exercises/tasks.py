"""More kinds of answers: an estimate with a range, a planted bug, a claim with its objections, a
decision with a price, an explanation with a rubric, a thing that is built. What a kind has to offer
is told in `kinds`; these also say what to write `on_paper(x)`.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from fabriclab.course.engine.exercises import reader
from fabriclab.course.engine.exercises.core import KEPT, Result, right, unreadable, wrong
from fabriclab.course.engine.exercises.kinds import EXAMPLES, Choice, Free, _plain, _text
from fabriclab.course.engine.exercises.template import fill
from fabriclab.units import si

_BETWEEN = re.compile(r"\s+to\s+|\s*(?:\.\.+|…|至|到|~)\s*|,\s+")


@dataclass(frozen=True)
class Estimate:
    """A range that should hold `key(x)` four times in five. It may span a factor of `widest`."""

    key: Callable
    unit: str  # the dimension, such as "time"
    widest: float = 30.0
    by_hand, worth, longest = False, 1, 400

    def needs(self, x):
        return {"unit": self.unit}

    @classmethod
    def rebuild(cls, needs):
        return cls(None, needs["unit"])

    def on_paper(self, x):
        return (
            f"Without a machine: give {reader.BASE[self.unit][2]} as a range that you would bet on"
            f" four times in five, at most a factor of {self.widest:g} wide."
        )

    def wants(self, x):
        value, _, name = EXAMPLES[self.unit].partition(" ")
        shown = f"{value} {name}".strip()
        more = f"{10 * float(value):g} {name}".strip()
        return (
            f'{self.on_paper(x)} Answer: as text such as `"{shown} to {more}"`, or two of them in'
            " a list. How often your ranges hold is counted in `me.progress()`."
        )

    def take(self, answer, x):
        if type(answer) is str:
            answer = _BETWEEN.split(answer.strip())
        if type(answer) not in (list, tuple) or len(answer) != 2:
            return {"unreadable": "this asks for a range of two values, such as 'LOW to HIGH'"}
        ends = [reader.quantity(end) for end in answer]
        unread = [end["unreadable"] for end in ends if "unreadable" in end]
        if unread:
            return {"unreadable": unread[0]}
        return {"items": [end["text"] if "text" in end else repr(end["value"]) for end in ends]}

    def solution(self, x):
        return [self.key(x) / 2, self.key(x) * 2]

    def judge(self, data, x):
        try:
            (low, one), (high, other) = (reader.read({"text": end}) for end in data["items"])
        except ValueError as error:
            return unreadable(str(error).removeprefix("could not read ").removeprefix("this: "))
        if any(dimension not in (None, "", self.unit) for dimension in (one, other)):
            return wrong(f"This asks for {reader.BASE[self.unit][2]}.", "wrong dimension")
        if not 0 < low <= high < float("inf"):
            return unreadable("a range goes from a smaller value above 0 to a larger one")
        if high / low > self.widest * (1 + 1e-9):
            return wrong(
                f"Your range spans a factor of {high / low:.3g}: nearly anything would lie in it."
                f" Dare a factor of {self.widest:g}.",
                "range too wide",
            )
        if low <= self.key(x) <= high:
            return right(f"Right: your range holds the value, and spans {high / low:.3g} times.")
        side = "above" if self.key(x) > high else "below"
        return wrong(
            f"The value lies {side} your range. Which step did you take too lightly? And: was your"
            " range as wide as your doubt?",
            "range missed",
        )


@dataclass(frozen=True)
class Plant:
    """One wrong line: which, how it reads, and what to say to whoever finds it."""

    line: int
    text: str
    says: str


@dataclass(frozen=True)
class Bug:
    """A short model or derivation with one wrong line, drawn by id from `plants`. `reasons` say why
    each line, as it should read, is right.
    """

    lines: tuple[str, ...]
    plants: tuple[Plant, ...]
    reasons: dict[int, str]
    by_hand, worth, longest = False, 1, 200

    def needs(self, x):
        return {}

    @classmethod
    def rebuild(cls, needs):
        return cls((), (), {})

    def plant(self, x):
        return x.draw.pick("plant", self.plants)

    def program(self, x):
        """The lines as this student sees them."""
        lines, plant = list(self.lines), self.plant(x)
        lines[plant.line - 1] = plant.text
        return lines

    def on_paper(self, x):
        shown = "\n".join(f"{n}  {line}" for n, line in enumerate(self.program(x), start=1))
        return f"```\n{shown}\n```\n\nWhich line is wrong, and how should it read?"

    def wants(self, x):
        shown, question = self.on_paper(x).split("\n\n")
        return f"One line is wrong:*\n\n{shown}\n\n*{question} Answer: the number of the line."

    def take(self, answer, x):
        if type(answer) is int and 0 < answer < 1000:
            return {"text": f"{answer}"}
        return _text(answer, "give a line number")

    def solution(self, x):
        return self.plant(x).line

    def judge(self, data, x):
        found = re.fullmatch(r"(?:line|第)?\s*(\d{1,3})\s*行?", data["text"].strip().casefold())
        if not found or not 1 <= int(found[1]) <= len(self.lines):
            return unreadable(f"give one line number from 1 to {len(self.lines)}")
        line = int(found[1])
        if line == self.plant(x).line:
            return right(f"Right: line {line}. {self.plant(x).says}")
        return wrong(
            f"Not yet: line {line} is sound. {self.reasons[line]}", f"line {line} taken for wrong"
        )


@dataclass(frozen=True)
class Several(Choice):
    """All options that hold, one or more: the objections to a claim that are sound."""

    def on_paper(self, x):
        return f"{_lines(self, x)}\n\nMark all that are sound."

    def wants(self, x):
        return (
            f"Answer: the letters of all that are sound, such as 'a, c'.*\n\n{_lines(self, x)}\n\n"
            "*One of them at least is."
        )

    def take(self, answer, x):
        if type(answer) in (list, tuple) and all(type(one) is str for one in answer):
            answer = ", ".join(answer[:8])
        return _text(answer, "this asks for letters in quotes, such as 'a, c'")

    def solution(self, x):
        return ", ".join(a for a, option in self.lettered(x).items() if option.right)

    def judge(self, data, x):
        options = self.lettered(x)
        given = re.findall(r"[a-z]", data["text"].casefold().replace("and", " "))
        if not given or not re.fullmatch(r"([a-z]\W*)+", _plain(data["text"]).replace("and", " ")):
            return unreadable(f"give letters from a to {max(options)}, such as 'a, c'")
        if set(given) - set(options):
            return unreadable(f"the letters go from a to {max(options)}")
        said = [o for a, o in options.items() if o.right != (a in given)]
        if not said:
            return right("Right: these and no others.")
        letter = next(a for a, o in options.items() if o is said[0])
        what = "is not sound" if letter in given else "is sound too"
        return wrong(f"Not yet: {letter} {what}. {fill(said[0].says, x)}", said[0].text)


def _lines(kind, x):
    lettered = kind.lettered(x).items()
    return "\n".join(f"- **{letter}**: {kind.wording(option, x)}" for letter, option in lettered)


@dataclass(frozen=True)
class Decision:
    """One of several actions on evidence that does not settle the matter: `costs(x)` is what each
    costs on average, in dollars, wrong decisions paid for. The cheapest is right.
    """

    costs: Callable
    look: str
    by_hand, worth, longest = False, 1, 200

    def needs(self, x):
        return {}

    @classmethod
    def rebuild(cls, needs):
        return cls(None, "")

    def on_paper(self, x):
        return f"Decide: {', '.join(sorted(self.costs(x)))}? Give what each costs on average."

    def wants(self, x):
        return f"Answer: one of {', '.join(sorted(self.costs(x)))}, in quotes."

    def take(self, answer, x):
        return _text(answer, "this asks for one of the actions, in quotes")

    def solution(self, x):
        costs = self.costs(x)
        return min(costs, key=costs.get)

    def judge(self, data, x):
        costs = self.costs(x)
        action = {_plain(name): name for name in costs}.get(_plain(data["text"]))
        if action is None:
            return unreadable(f"give one of {', '.join(sorted(costs))}")
        more = costs[action] - min(costs.values())
        if not more:
            return right(f"Right: {action} is the cheapest on average, whatever comes of it.")
        return wrong(
            f"Not yet: {action} costs {si(more, '$', 2)} more on average than another. {self.look}",
            f"chose {action}",
        )


@dataclass(frozen=True)
class Explain(Free):
    """An explanation in few words, kept for a person. Who studies alone ticks the `rubric` with
    `q.tick(…)` and then reads the `sample`.
    """

    least_words: int = 20
    worth: int = 4
    most_words: int = 60
    rubric: tuple[str, ...] = ()
    sample: str = ""

    def on_paper(self, x):
        return f"In at most {self.most_words} words."

    def wants(self, x):
        return (
            f"Answer: {self.least_words} to {self.most_words} words between triple quotes. Your"
            " instructor reads them; who studies alone ticks a list with `.tick(1, 3)` afterwards."
        )

    def judge(self, data, x):
        kept = super().judge(data, x)
        words = len(data["text"].split())
        if kept.status != KEPT:
            return kept
        if words > self.most_words:
            return unreadable(f"{words} words; {self.most_words} are enough if each one counts")
        listed = " ".join(f"[{n}] {says}." for n, says in enumerate(self.rubric, start=1))
        return Result(0.0, KEPT, f"Kept ({words} words). Which of these does it say? {listed}")

    def ticked(self, numbers):
        """What to say to a reader who ticked these points of the rubric. Raises ValueError."""
        strange = [n for n in numbers if n not in range(1, len(self.rubric) + 1)]
        if strange:
            raise ValueError(f"the list has points 1 to {len(self.rubric)}, and no {strange[0]!r}")
        left = [says for n, says in enumerate(self.rubric, start=1) if n not in numbers]
        missing = f" Not yet said: {'; '.join(left)}." if left else ""
        return f"{len(set(numbers))} of {len(self.rubric)}.{missing} One way: {self.sample}"


@dataclass(frozen=True)
class Built:
    """Something a student builds, handed over as its `settings()`, a dict of text and numbers.

    `make(**settings)` builds it again, or raises ValueError with the reason; `faults(thing, x)`
    lists what is wrong with it, as sentences; `praise(thing, x)` says what it reaches; `best(x)` is
    one that passes. `what` names it.
    """

    make: Callable
    faults: Callable
    praise: Callable
    best: Callable
    what: str
    by_hand, worth, longest = False, 1, 2_000

    def needs(self, x):
        return {"what": self.what}

    @classmethod
    def rebuild(cls, needs):
        return cls(None, None, None, None, needs["what"])

    def on_paper(self, x):
        return f"Write down your {self.what}, setting by setting."

    def wants(self, x):
        return f"Answer: a `{self.what}(...)`; what you leave out keeps its default."

    def take(self, answer, x):
        if type(answer) is str:
            return _text(answer, "")
        settings = getattr(answer, "settings", None)
        settings = settings() if callable(settings) else None
        if type(settings) is not dict:
            return {"unreadable": f"this asks for a {self.what}(...), the object itself"}
        return _text(json.dumps(settings), "", self.longest)

    def solution(self, x):
        return json.dumps(self.best(x).settings())

    def judge(self, data, x):
        try:
            settings = json.loads(data["text"])
            thing = self.make(**settings) if type(settings) is dict else None
        except ValueError as reason:
            return unreadable(str(reason)[:200])
        if thing is None:
            return unreadable(f"this asks for a {self.what}(...)")
        faults = self.faults(thing, x)
        if faults:
            return wrong(f"Not yet. {' '.join(faults)}", *(f.partition(":")[0] for f in faults))
        return right(f"Right. {self.praise(thing, x)}")
