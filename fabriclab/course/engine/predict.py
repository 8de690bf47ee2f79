"""Predictions: a guess committed in the page, and only then the number, how far off the guess is,
and the slip that explains it.

    predict("transport.host_memory")             # a form; the number is folded under it
    predict("transport.host_memory", "350 GB")   # the same without a form

A form is plain HTML with a small script, and no widget: saved, reopened or on a static page it
still takes a guess and compares it in the browser. With a live kernel it hands the guess over, the
exercises' own reader judges it, and the first guess is kept in `progress.json`.
"""

import contextlib
import datetime
import difflib
import functools
import html
import importlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fabriclab import units
from fabriclab.course import NUMBERED
from fabriclab.course.engine.exercises import diary, reader, spelling
from fabriclab.course.engine.exercises.slips import BOTH_WAYS, TWICE, Slip, explain, words

SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
# unit asked for -> (dimension, an example of an answer)
UNITS = {
    "B": ("size", "3 KB"),
    "B/s": ("rate", "1.7 GB/s"),
    "b/s": ("rate", "40 Gb/s"),
    "s": ("time", "0.37 ms"),
    "W": ("power", "30 kW"),
    "$": ("money", "$2 M"),
    "m": ("length", "3 m"),
    "dB": ("decibels", "3 dB"),
    "Bd": ("symbol rate", "10 GBd"),
    "%": ("number", "25 %"),
    "x": ("number", "3 x"),
    "": ("number", "120"),
}
BARE = ("", "x", "%", "dB")  # units that a guess may leave out
SURE = (50, 70, 90)
KEPT = "/predictions"  # where the diary keeps guesses; no student's entries are touched


@dataclass(frozen=True)
class Prediction:
    """What a reader is asked to guess.

    `key()` calls a model: a number in SI, shown in `unit`, or the right one of `options`. `slips`
    are wrong ways with a name; their values take no argument. `moral` is said with the number.
    """

    id: str
    asks: str
    key: Callable
    unit: str = ""
    options: tuple[str, ...] = ()
    slips: tuple[Slip, ...] = ()
    moral: str = ""

    def shown(self, value):
        """A value for people, in the unit asked for."""
        if self.options:
            return str(value)
        if self.unit == "%":
            return f"{100 * value:.3g} %"
        if self.unit in ("", "x"):
            return (
                f"{value:,.4g}"
                if value < 1e4
                else f"{value:,.0f}"
                if value < 1e9
                else f"{value:.2g}"
            )
        return f"{value:.3g} dB" if self.unit == "dB" else units.si(value, self.unit)

    def near(self, value, key):
        """Whether a guess is good: the right option, within ten points of a share, within 2x."""
        if self.options or not math.isfinite(key) or key == 0:
            return value == key
        if self.unit == "%":
            return abs(value - key) <= 0.1 + 1e-9
        return 0.5 - 1e-9 <= value / key <= 2 + 1e-9


@dataclass(frozen=True)
class Judged:
    """A guess, read: its value in SI or its option, whether it is near, what there is to say."""

    value: float | str
    near: bool
    says: str


@functools.cache
def part(name):
    """The predictions of one part, by id."""
    module = importlib.import_module(f"fabriclab.course.{name}.predictions")
    return {prediction.id: prediction for prediction in module.PREDICTIONS}


def ids(of=""):
    """The ids of all predictions, or of one part."""
    parts = (*NUMBERED.values(), "errata")
    return [name for one in parts if of in ("", one) for name in part(one)]


def find(name):
    """The prediction of that id. Raises ValueError with the closest ids if there is none."""
    home = name.partition(".")[0] if type(name) is str else ""
    if home in (*NUMBERED.values(), "errata") and name in part(home):
        return part(home)[name]
    close = difflib.get_close_matches(str(name), ids(), n=3) or ids()[:3]
    raise ValueError(f"no prediction is called {name!r}; did you mean {', '.join(close)}?")


def read(prediction, guess):
    """A guess as a number in SI, or as one of the options.

    Raises ValueError that says what was expected.
    """
    if prediction.options:
        plain = {option.casefold(): option for option in prediction.options}
        if str(guess).strip().casefold() not in plain:
            raise ValueError("one of " + "; ".join(prediction.options))
        return plain[str(guess).strip().casefold()]
    wanted, example = UNITS[prediction.unit]
    data = reader.quantity(guess)
    if "unreadable" in data:
        raise ValueError(data["unreadable"])
    if wanted == "number" and "text" in data:
        data = {"text": spelling.without_noun(data["text"], prediction.asks)}
    value, dimension = reader.read(data)
    if math.isnan(value):
        raise ValueError("NaN is no number")
    if dimension is None and prediction.unit not in BARE:
        raise ValueError(f"give the unit too, as in {example}")
    if dimension not in (None, wanted):
        raise ValueError(f"this asks for another kind of quantity, such as {example}")
    bare = "%" not in str(data.get("text", ""))
    return value / 100 if prediction.unit == "%" and bare and value > 1.5 else value


def distance(prediction, value, key):
    """How far a number is off, in words."""
    ratio = value / key if key and math.isfinite(key) else math.nan
    for factor, word in ((1, "right on it"), (0.5, "half"), (2, "twice as much")):
        if math.isclose(ratio, factor, rel_tol=0.02):
            return word
    if value == key:
        return "right on it"
    if prediction.unit == "%":
        return f"{100 * abs(value - key):.3g} points too {'high' if value > key else 'low'}"
    if not ratio > 0 or math.isinf(ratio):
        return "off by more than any factor"
    if 0.8 < ratio < 1.25:
        return f"{100 * abs(ratio - 1):.0f} % too {'high' if ratio > 1 else 'low'}"
    return f"{max(ratio, 1 / ratio):,.3g} times too {'high' if ratio > 1 else 'low'}"


def judge(prediction, guess):
    """A guess against the model. Raises ValueError for what cannot be read."""
    value, key = read(prediction, guess), prediction.key()
    near = bool(prediction.near(value, key))
    if prediction.options:
        says = "Right." if near else f"The model: {key}."
    else:
        says = (
            f"Yours {prediction.shown(value)}, the model {prediction.shown(key)}:"
            f" {distance(prediction, value, key)}."
        )
        says += _slip(prediction, value, key)
    return Judged(value, near, f"{says} {prediction.moral}".strip())


def _slip(prediction, value, key):
    """The slip that explains a guess; guesses are rough, so a bare factor of 2 is none."""
    if math.isclose(value, key, rel_tol=0.02):
        return ""
    own = [(slip, slip.value()) for slip in prediction.slips]
    dimension = UNITS[prediction.unit][0]
    found = explain(value, key, own, 0.01, dimension)
    found = [(name, says) for name, says in found if name not in (BOTH_WAYS, TWICE)] or [
        (slip.name, slip.says) for slip, at in own if math.isclose(value, at, rel_tol=0.01)
    ]
    return f" {words(found)}" if found else ""


def predict(*names, guess=None, sure=None):
    """Show the forms of one or more predictions, or judge a `guess`, if it is given, with how
    `sure` one is in per cent.
    """
    if len(names) == 2 and names[1] not in ids():
        names, guess = names[:1], names[1]
    predictions = [find(name) for name in names]
    if guess is not None:
        print(commit(predictions[0].id, guess, sure))
    elif diary.in_notebook():
        from IPython import display

        _listen()
        plain = "\n".join(f"Predict: {one.asks}. {_how(one)}" for one in predictions)
        page = "".join(form(one) for one in predictions) + f"<script>{SCRIPT}</script>"
        display.display({"text/html": f"<div>{page}</div>", "text/plain": plain}, raw=True)
    else:
        print("\n".join(f"Predict: {one.asks}. {_how(one)}" for one in predictions))


def _how(prediction):
    answer = prediction.options[0] if prediction.options else UNITS[prediction.unit][1]
    return f'predict("{prediction.id}", "{answer}") compares a guess.'


def commit(name, guess, sure=None):
    """Judge a guess, keep it if it is the first, and give the words for the reader."""
    prediction = find(name)
    try:
        judged = judge(prediction, guess)
    except ValueError as error:
        return f"Could not read this: {str(error).removeprefix('could not read ')}."
    kept = {"guess": str(guess), "near": judged.near, "sure": sure}
    if diary.is_on() and name not in guesses():
        _keep(name, kept)
    return judged.says


def guesses(folder="."):
    """{id: {"guess", "near", "sure"}} of the guesses kept here."""
    try:
        kept = json.loads((Path(folder) / diary.NAME).read_text(encoding="utf-8"))[KEPT]
        return {name: told for name, told in kept.items() if type(told.get("near")) is bool}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _keep(name, told, folder="."):
    path = Path(folder) / diary.NAME
    with contextlib.suppress(OSError):
        everything = diary.load(path)
        day = datetime.date.today().isoformat()
        everything.setdefault(KEPT, {})[name] = told | {"day": day}
        diary.save(path, everything)


def form(prediction):
    """The question and, folded, the number, as HTML; the script adds the form."""
    key = prediction.key()
    known = {
        "asks": prediction.asks,
        "unit": prediction.unit,
        "key": key if prediction.options else float(f"{key:.6g}"),
        "shown": prediction.shown(key),
        "options": prediction.options,
        "slips": [(float(f"{slip.value():.6g}"), slip.says) for slip in prediction.slips],
        "moral": prediction.moral,
        "such": UNITS[prediction.unit][1],
    }
    if diary.is_on() and (kept := guesses().get(prediction.id)):
        known["kept"] = [kept["guess"], kept.get("sure"), commit(prediction.id, kept["guess"])]
    held = html.escape(json.dumps(known, ensure_ascii=False), quote=True)
    return (
        f'<div class="fabriclab-predict" id="predict-{prediction.id}" data-known="{held}"'
        ' style="border-left:4px solid #0072B2;padding:.3em .8em;margin:.3em 0">'
        f"<b>Your guess:</b> {html.escape(prediction.asks)}"
        f"<details><summary>the number</summary>{html.escape(prediction.shown(key))}."
        f" {html.escape(prediction.moral)}</details></div>"
    )


@functools.cache
def _listen():
    """Open the kernel's ear: a widget without a view, which hears the forms of the page."""
    try:
        import anywidget
    except ModuleNotFoundError:
        return None

    class Ear(anywidget.AnyWidget):
        _esm = """
        export default { initialize({ model }) {
          const waiting = {};
          let n = 0;
          const hear = (event) => {
            event.detail.heard = true;
            waiting[++n] = event.detail.done;
            model.send({ n, id: event.detail.id, guess: event.detail.guess, sure: \
event.detail.sure });
          };
          document.addEventListener("fabriclab-guess", hear);
          model.on("msg:custom", (said) => waiting[said.n]?.(said.says));
          return () => document.removeEventListener("fabriclab-guess", hear);
        } };
        """

    ear = Ear()

    def answer(_, content, buffers):
        says = commit(str(content.get("id")), content.get("guess"), content.get("sure"))
        ear.send({"n": content.get("n"), "says": says})

    ear.on_msg(answer)
    return ear


def score(of=""):
    """Say how well one estimates, in one part or, without a name, in all of them."""
    told = guesses() if diary.is_on() else {}
    print(summary({name: told[name] for name in ids(of) if name in told}, len(ids(of))), end="")


def summary(told, asked):
    """The score of some guesses, with calibration where a confidence was given."""
    if not told:
        return f"None of {asked} predictions guessed yet. Guess, then run this cell again.\n"
    choices = [each["near"] for name, each in told.items() if find(name).options]
    numbers = [each["near"] for name, each in told.items() if not find(name).options]
    lines = [f"You guessed {len(told)} of {asked}."]
    if numbers:
        lines.append(
            f"Numbers: within 2x (shares: within 10 points) on {sum(numbers)} of {len(numbers)}."
        )
    if choices:
        lines.append(f"Choices: right on {sum(choices)} of {len(choices)}.")
    for sure in SURE:
        near = [each["near"] for each in told.values() if each.get("sure") == sure]
        if near:
            lines.append(f"{sure} % sure: good on {sum(near)} of {len(near)}.")
    return "\n".join(lines) + "\n"
