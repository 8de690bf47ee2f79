"""Functions as answers: run on inputs the student has not seen, scalars and arrays, and compared
with the model.
"""

import contextlib
import math
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fabriclab.course.engine.exercises.core import BLANK, Result, right, unreadable, wrong
from fabriclab.course.engine.exercises.reader import kind_of, number, show, within
from fabriclab.course.engine.exercises.slips import words

_LONGEST = 10_000
LIMIT = 10  # seconds for one call


@dataclass(frozen=True)
class Function:
    """A function with arguments `names`, in that order. `key` is the model, `inputs(draw)` a list
    of argument tuples.

    `slips` are (name, words, wrong function). `dimension` is that of what it returns, `arguments`
    those of `names`.
    """

    names: tuple[str, ...]
    key: Callable
    inputs: Callable
    dimension: str
    arguments: tuple[str, ...]
    slips: tuple = ()
    tolerance: float = 1e-6
    by_hand, worth, longest = False, 1, 0

    def needs(self, x):
        return {"names": self.names, "inputs": self.inputs(x.draw)}

    @classmethod
    def rebuild(cls, needs):
        return cls(tuple(needs["names"]), None, lambda draw: needs["inputs"], "", ())

    def wants(self, x):
        return (
            f"Answer: a function of ({', '.join(self.names)}) in SI units; it is tried on inputs"
            f" you have not seen, numpy arrays of {self.names[0]} among them."
        )

    def take(self, answer, x):
        if not callable(answer):
            return {
                "unreadable": (
                    f"{kind_of(answer)} is not a function; pass the function itself, without"
                    " calling it"
                )
            }
        outputs, given = [], self.inputs(x.draw)
        for arguments in given:
            if outputs and type(outputs[-1]) is dict and "stopped" in outputs[-1]:
                outputs.append(outputs[-1])  # the next input would only take as long again
                continue
            arrays = [np.array(a) if type(a) is list else a for a in arguments]
            try:
                outputs.append(_run(answer, arrays))
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"your function on {self._show(arguments)}") from None
        return {"outputs": outputs}

    def solution(self, x):
        return self.key

    def judge(self, data, x):
        given, outputs = self.inputs(x.draw), data["outputs"]
        if len(outputs) != len(given):
            return unreadable("not every input was tried")
        if all(out is None for out in outputs):
            return Result(
                0.0,
                BLANK,
                "Not attempted yet: your function returns nothing. Write its body, end it with"
                " return, and run the cell again.",
            )
        for out, arguments in zip(outputs, given, strict=True):
            if type(out) is dict:
                return wrong(
                    f"Not yet: called with {self._show(arguments)}, your function"
                    f" {_plain_reason(out)}.",
                    "took too long" if "stopped" in out else "did not return a number",
                )
            if out is None:
                return wrong(
                    f"Not yet: called with {self._show(arguments)}, your function returns nothing;"
                    " is a return missing?",
                    "no return",
                )
        if self._agree(outputs, self.key, given):
            return right(f"Right: it agrees with the model on all {len(given)} inputs tried.")
        found = [
            (name, says) for name, says, slip in self.slips if self._agree(outputs, slip, given)
        ]
        if found:
            return wrong(f"Not yet. {words(found)}", *(name for name, _ in found))
        agree = [
            self._agree([out], self.key, [arguments])
            for out, arguments in zip(outputs, given, strict=True)
        ]
        first = agree.index(False)
        got = outputs[first] if type(outputs[first]) is not list else None
        value = (
            f" it gives {show(float(got), self.dimension)}, and"
            if type(got) in (int, float) and not math.isnan(got)
            else ""
        )
        return wrong(
            f"Not yet: it agrees with the model on {sum(agree)} of {len(given)} inputs. For"
            f" {self._show(given[first])}{value} the model says otherwise."
        )

    def _agree(self, outputs, model, given):
        for out, arguments in zip(outputs, given, strict=True):
            wanted = np.atleast_1d(
                model(*[np.array(a) if type(a) is list else a for a in arguments])
            )
            got = out if type(out) is list else [out]
            if len(got) != wanted.size or not all(
                type(g) in (int, float) and within(float(g), float(w), self.tolerance)
                for g, w in zip(got, wanted.flat, strict=True)
            ):
                return False
        return True

    def _show(self, arguments):
        parts = []
        for name, dimension, value in zip(self.names, self.arguments, arguments, strict=True):
            parts.append(
                f"{name} = an array of {len(value)}"
                if type(value) is list
                else f"{name} = {show(value, dimension)}"
            )
        return ", ".join(parts)


class _TooLong(BaseException):
    """Raised in a student's function whose time is over; no `except Exception` holds it."""


@contextlib.contextmanager
def _a_limit():
    """`LIMIT` seconds for what is inside, in a student's own kernel.

    Where a clock is running already (a grader's), or none can (another thread, Windows), that is
    left alone.
    """
    free = (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )
    if not free:
        yield
        return

    def over(number, frame):
        raise _TooLong

    signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, LIMIT, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _run(function, arguments):
    """One call's outcome as plain data: a float, a list of floats, None, or {"raised"/"unreadable":
    words}.
    """
    try:
        # a student's warning or division by zero is theirs to see in their own cell
        with np.errstate(all="ignore"), _a_limit():
            out = function(*arguments)
    except _TooLong:
        return {"stopped": f"was stopped after {LIMIT} s: does each of its loops come to an end?"}
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return {"raised": _describe(error)}
    try:
        return _plain(out)
    except Exception:
        return {"returned": "something that cannot be looked at"}


def _plain(out):
    if out is None or out is ...:
        return None
    value = number(out)
    if value is not None:
        return value
    if (
        type(out) is np.ndarray
        and out.dtype.kind in "iuf"
        and out.ndim == 1
        and out.size <= _LONGEST
    ):
        return [float(v) for v in out]
    if type(out) in (list, tuple) and len(out) <= _LONGEST:
        values = [number(v) for v in out]
        if None not in values:
            return values
    return {"returned": kind_of(out)}


def _describe(error):
    name = type.__dict__["__name__"].__get__(type(error))[:40]
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{name}: {text[:150]}" if text else name


def _plain_reason(out):
    if type(out.get("stopped")) is str:
        return out["stopped"][:200]
    for what in ("raised", "returned"):
        if type(out.get(what)) is str:
            return f"{what} {out[what][:200]}"
    return "did something else than return a number"
