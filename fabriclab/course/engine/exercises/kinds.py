"""Kinds of answers: a quantity, a choice, an ordering, a free text. Each takes an answer as data
and judges the data.

Formulas are in `formula`, functions in `function`. A kind knows itself. Besides `wants`, `take` and
`judge` it has `needs(x)`, the plain data that the box gets so that it can take an answer;
`rebuild(needs)`, which makes a kind that can only take; `longest`, how many characters an answer's
text may have; `worth`, the points of a full answer; `by_hand`, whether a person marks it; and
`solution(x)`, an answer that is right, or None where only a person can tell.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace

from fabriclab.course.engine.exercises import reader, spelling
from fabriclab.course.engine.exercises.core import KEPT, Result, right, unreadable, wrong
from fabriclab.course.engine.exercises.slips import Slip, close_by, explain, words
from fabriclab.course.engine.exercises.template import fill

EXAMPLES = {
    "size": "3 KB",
    "rate": "1.7 GB/s",
    "time": "0.37 ms",
    "power": "30 kW",
    "energy": "5 pJ",
    "length": "3 m",
    "money": "$2 M",
    "number": "0.25",
}
_CALLED = {
    "decibels": "a ratio in decibels",
    "energy per bit": "an energy per bit",
    "operations per second": "a rate of operations",
}
NO_SLIP = "No slip this kit knows explains it. Look at each step once more, or ask for a hint."


@dataclass(frozen=True)
class Quantity:
    """A number with its unit.

    `key(x)` calls a model; `tolerance` is relative; `slips` are this exercise's own. A count may be
    given with the name of what is counted, if the question names it in `prompt`.
    """

    key: Callable
    dimension: str
    tolerance: float = 0.01
    slips: tuple[Slip, ...] = ()
    whole: bool = False  # a count of things, so that one more or less has a name
    by_hand, worth, longest = False, 1, 200

    def needs(self, x):
        return {"dimension": self.dimension}

    @classmethod
    def rebuild(cls, needs):
        return cls(None, needs["dimension"])

    def wants(self, x):
        base, _, what = reader.BASE[self.dimension]
        unit = (
            ""
            if self.dimension == "number"
            else (
                f', as text with its unit such as `"{EXAMPLES[self.dimension]}"`, or a bare number'
                f" of {base}"
            )
        )
        return f"Answer: {what}{unit}; {100 * self.tolerance:g} % either way is fine."

    def take(self, answer, x):
        return reader.quantity(answer)

    def solution(self, x):
        return self.key(x)

    def judge(self, data, x, prompt=""):
        base, _, what = reader.BASE[self.dimension]
        if self.dimension == "number" and type(data.get("text")) is str:
            data = {"text": spelling.without_noun(data["text"], prompt)}
        try:
            value, dimension = reader.read(data)
        except ValueError as error:
            return unreadable(str(error).removeprefix("could not read ").removeprefix("this: "))
        if value != value:
            return wrong(
                "NaN is not a number: some step before divided nothing by nothing, or worked with"
                " infinities.",
                "NaN",
            )
        if dimension and dimension != self.dimension:
            given = _CALLED.get(dimension) or reader.BASE.get(dimension, ("", "", dimension))[2]
            return wrong(f"Your answer is {given}; this asks for {what}.", "wrong dimension")
        shown = reader.as_given(data, value, self.dimension)
        key = self.key(x)
        if reader.within(value, key, self.tolerance):
            return right(f"Right: {shown}.")
        shown += (
            "" if dimension or self.dimension == "number" else f" (a bare number counts as {base})"
        )
        own = [(replace(s, says=fill(s.says, x)), s.value(x)) for s in self.slips]
        bare = "%" not in str(data.get("text", ""))
        found = explain(value, key, own, self.tolerance, self.dimension, self.whole, bare)
        if value < 0 < key and not found:
            return wrong(f"Not yet: {shown} is less than nothing, and this cannot be.", "sign")
        why = words(found) if found else close_by(value, key, self.tolerance) or NO_SLIP
        return wrong(f"Not yet: {shown}. {why}", *(name for name, _ in found))


@dataclass(frozen=True)
class Option:
    """One option of a choice, with what to say to whoever picks it. `right` marks the one, `also`
    holds other ways to put it; which of them a student reads is drawn by id.
    """

    text: str
    says: str
    right: bool = False
    also: tuple[str, ...] = ()

    def is_called(self, given, x):
        return given in (_plain(fill(text, x)) for text in (self.text, *self.also))


def _plain(text):
    return " ".join(re.sub(r"[*_`$.]", "", unicodedata.normalize("NFKC", text)).casefold().split())


@dataclass(frozen=True)
class Choice:
    """One of several options, in an order and in words of the student's own."""

    options: tuple[Option, ...]
    by_hand, worth, longest = False, 1, 2_000

    def needs(self, x):
        return {}

    @classmethod
    def rebuild(cls, needs):
        return cls(())

    def lettered(self, x):
        return dict(zip("abcdefgh", x.draw.shuffle("options", self.options), strict=False))

    def wording(self, option, x):
        return fill(x.draw.pick(f"words {option.text}", (option.text, *option.also)), x)

    def wants(self, x):
        lines = "\n".join(
            f"- **{letter}**: {self.wording(option, x)}"
            for letter, option in self.lettered(x).items()
        )
        return (
            f"Answer: the letter that fits best, in quotes.*\n\n{lines}\n\n*The text of an option"
            " does as well."
        )

    def take(self, answer, x):
        return _text(answer, "this asks for a letter in quotes, such as 'a'")

    def solution(self, x):
        right = [letter for letter, option in self.lettered(x).items() if option.right]
        if len(right) != 1:
            raise ValueError(f"{len(right)} options are right, where one should be")
        return right[0]

    def judge(self, data, x):
        given, options = _plain(data["text"]), self.lettered(x)
        letter = re.sub(r"^(option|answer|选项?|答案)|[\W_]", "", given)
        by_text = [option for option in options.values() if option.is_called(given, x)]
        option = options.get(letter) or (by_text[0] if by_text else None)
        if option is None:
            return unreadable(f"give one letter from a to {max(options)}")
        return (
            right(f"Right. {fill(option.says, x)}")
            if option.right
            else wrong(f"Not yet. {fill(option.says, x)}", option.text)
        )


@dataclass(frozen=True)
class Ordering:
    """Names in the order of a value, least first; `values(x)` asks the models for each name's,
    `look` helps after a wrong order.
    """

    values: Callable
    least: str  # what comes first, such as "fastest"
    look: str = (
        "work out the time of each for these numbers; which term decides here, start-up or bytes?"
    )
    by_hand, worth, longest = False, 1, 2_000

    def needs(self, x):
        return {}

    @classmethod
    def rebuild(cls, needs):
        return cls(None, "")

    def wants(self, x):
        return (
            f"Answer: the names {', '.join(sorted(self.values(x)))}, {self.least} first, in one"
            " text with commas or in a list."
        )

    def take(self, answer, x):
        if (
            type(answer) in (list, tuple)
            and len(answer) < 50
            and all(type(item) is str for item in answer)
        ):
            return {"items": [item[:100] for item in answer]}
        return _text(answer, "this asks for names in order, as a list or as text with commas")

    def solution(self, x):
        values = self.values(x)
        return sorted(values, key=values.get)

    def judge(self, data, x):
        values = self.values(x)
        known = {_plain(name): name for name in values}
        items = data["items"] if "items" in data else re.split(r"[,;<，、；＜\n]", data["text"])
        given = [_plain(item.strip().strip("'\"")) for item in items if item.strip()]
        strange = [item for item in given if item not in known]
        if strange:
            return unreadable(f"{strange[0][:40]!r} is not one of {', '.join(sorted(values))}")
        if len(given) != len(values) or len(set(given)) != len(given):
            return unreadable(f"name each of the {len(values)} once")
        order = sorted(values, key=values.get)
        given = [known[item] for item in given]
        if given == order:
            return right(f"Right: {', '.join(given)}.")
        if given == order[::-1]:
            return wrong(f"Exactly backwards: this asks for the {self.least} first.", "backwards")
        return wrong(f"Not yet: {self.look}{'' if self.look.endswith('?') else '.'}")


@dataclass(frozen=True)
class Free:
    """A free answer: kept for a person to read, who gives up to `worth` points; never right or
    wrong by itself.
    """

    least_words: int = 20
    worth: int = 5
    by_hand, longest = True, 20_000

    def needs(self, x):
        return {}

    @classmethod
    def rebuild(cls, needs):
        return cls()

    def wants(self, x):
        return (
            f"Answer: a few sentences of your own (at least {self.least_words} words) between"
            " triple quotes. Your instructor reads it; nothing here marks it."
        )

    def take(self, answer, x):
        return _text(answer, "this asks for text between triple quotes", self.longest)

    def solution(self, x):
        return None

    def judge(self, data, x):
        written = (
            len(data["text"].split()) + sum("\u4e00" <= c <= "\u9fff" for c in data["text"]) // 2
        )
        if written < self.least_words:
            return unreadable(
                f"{written} word{'s are' if written != 1 else ' is'} little for an argument; write"
                f" at least {self.least_words}"
            )
        return Result(
            0.0, KEPT, f"Kept for your instructor ({written} words). No program marks this one."
        )


def _text(answer, otherwise, longest=2_000):
    if type(answer) is not str:
        return {"unreadable": otherwise}
    return (
        {"text": answer}
        if len(answer) <= longest
        else {"unreadable": f"more than {longest:,} characters"}
    )
