"""What an exercise is, what a verdict is, and how a student's own numbers are drawn."""

import hashlib
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from fabriclab.course.engine.exercises.template import Drawn, called

RIGHT, WRONG, BLANK = "right", "wrong", "not attempted"
UNREADABLE, KEPT = "could not read", "for the instructor"


@dataclass(frozen=True)
class Result:
    """A verdict as plain data: `score` 0 or 1, `status`, the words for the student, and the `slips`
    seen, by name.
    """

    score: float
    status: str
    message: str
    slips: tuple[str, ...] = ()


def right(message):
    return Result(1.0, RIGHT, message)


def wrong(message, *slips):
    return Result(0.0, WRONG, message, slips)


def unreadable(reason):
    return Result(0.0, UNREADABLE, f"Could not read this: {reason}.")


def blank():
    return Result(
        0.0, BLANK, "Not attempted yet: replace the ... with your answer and run the cell again."
    )


@dataclass(frozen=True)
class Exercise:
    """One exercise of the bank: a page of text around calls to models.

    `prompt`, `hints`, `moral`, options and slips' words are texts with places such as `{size:B}`
    (see `template`); `numbers` says what fills them: a dict of picks and constants in SI, or
    `numbers(draw)` where one depends on another. `places` are what is worked out from the numbers
    for the words alone, each a call. `kind` knows how to take and judge an answer (see `kinds`).
    `level`, `minutes`, `section` and `needs` are for exercises without a line in `levels`.
    """

    id: str
    title: str
    chinese: str = ""
    numbers: Callable | dict = field(default_factory=dict)
    prompt: Callable | str = ""
    kind: object = None
    hints: tuple[str, ...] = ()
    moral: str | Callable = ""
    places: dict[str, Callable] = field(default_factory=dict)
    level: str = ""
    minutes: int = 0
    section: str = ""
    needs: tuple[str, ...] = ()

    def __post_init__(self):
        numbers = self.numbers if callable(self.numbers) else Drawn(self.numbers)
        object.__setattr__(self, "numbers", numbers)
        object.__setattr__(self, "prompt", called(self.prompt))
        object.__setattr__(self, "moral", called(self.moral))


def as_data(exercise, x, answer):
    """An answer to `exercise` with the numbers `x` as plain data: None for a blank, or a dict of
    floats, text and lists that JSON can carry.
    """
    if answer is None or answer is ... or (type(answer) is str and not answer.strip()):
        return None
    try:
        return exercise.kind.take(answer, x)
    except KeyboardInterrupt:
        raise
    except BaseException:
        # whatever an object does when looked at, it is not an answer
        return {"unreadable": "an object that cannot be looked at"}


def identify(student):
    """A student id as one spelling: text, without spaces around it, in Unicode's composed form with
    full-width signs made plain (NFKC).

    >>> identify(" Zoe\\u0301 ") == identify("Zo\\u00e9"), identify("\uff10\uff10\uff11")
    (True, '001')
    """
    if type(student) is not str:
        raise ValueError("a student id is text: put it in quotes, so that 001 keeps its zeros")
    name = unicodedata.normalize("NFKC", student).strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise ValueError("a student id is one line of 1 to 200 printable characters")
    return name


class Draw:
    """Choices that follow from (student, exercise, name) alone: the same on any machine, in any
    Python, for ever.

    Each choice hashes its own name, so adding a number to an exercise moves none of the others. The
    lists chosen from are part of the promise: changing one changes what students were given.

    >>> Draw("demo", "transport.crossover").pick("n", [1, 2, 4]) in (1, 2, 4)
    True
    """

    def __init__(self, student, exercise):
        self._stem = f"{identify(student)}\0{exercise}\0"

    def share(self, name):
        """A number from 0 up to 1."""
        digest = hashlib.sha256((self._stem + name).encode("utf-8")).digest()
        return int.from_bytes(digest[:6], "big") / 2**48

    def pick(self, name, values):
        return values[int(self.share(name) * len(values))]

    def shuffle(self, name, items):
        return [
            item
            for _, item in sorted((self.share(f"{name} {i}"), item) for i, item in enumerate(items))
        ]


class Numbers:
    """A student's numbers as attributes; the `draw` behind them orders options and picks test
    inputs, and `places` are what words may quote besides.
    """

    __slots__ = ("__dict__", "places")

    def __init__(self, draw, values, places=None):
        self.places = places or {}
        self.draw = draw
        self.__dict__.update(values)
