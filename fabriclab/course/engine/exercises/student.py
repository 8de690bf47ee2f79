"""What a student holds in a notebook: `Student`, and the `Question` it asks."""

import datetime
import html
import re
import textwrap

from fabriclab.course.engine.exercises import bank, diary, levels
from fabriclab.course.engine.exercises.core import BLANK, KEPT, RIGHT, WRONG, identify

SIGNS = {RIGHT: "✓", WRONG: "✗", KEPT: "•", BLANK: "–"}
AS_DEMO = (
    'You work as "demo", with everybody\'s numbers.\n'
    "For numbers of your own put your id in the quotes above and run all again."
)
_EDGES = {RIGHT: "0,158,115", WRONG: "213,94,0"}


class Student:
    """A student by id: the numbers of every exercise follow from it.

    >>> me = Student("demo")
    >>> me.progress()
    0 of 0 right.
    """

    def __init__(self, student_id):
        self.id = identify(student_id)
        self.questions = {}
        if self.id == "demo" and diary.in_notebook():
            print(AS_DEMO)

    def __repr__(self):
        return f"Student({self.id!r})"

    def ask(self, exercise_id):
        """Show an exercise with this student's numbers;
        the `Question` that comes back holds them.
        """
        question = self.questions.get(exercise_id) if type(exercise_id) is str else None
        question = question or Question(self, exercise_id)
        self.questions[exercise_id] = question
        question.show()
        return question

    def progress(self):
        """Print where each exercise asked so far stands, and all parts together where tries of
        other days are kept.
        """
        marks = {RIGHT: "x", KEPT: "k"}
        asked = list(self.questions.values())
        width = max((len(question.exercise.title) for question in asked), default=0)
        lines = []
        for question in asked:
            before = "" if question.verdict or question.status == BLANK else " (another day)"
            lines.append(
                f"[{marks.get(question.status, ' ')}] {question.exercise.title:<{width}} "
                f" {question.status}{question.counted}{before}"
            )
        kept = sum(question.status == KEPT for question in asked)
        total = sum(not question.exercise.kind.by_hand for question in asked)
        lines.append(
            f"{sum(question.status == RIGHT for question in asked)} of {total}"
            f" right{f', {kept} kept for your instructor' if kept else ''}."
        )
        lines += [*self._ranges(asked), *self._all_parts()]
        print("\n".join(lines) + "\n", end="")

    def _ranges(self, asked):
        ranges = [q for q in asked if hasattr(q.exercise.kind, "widest") and q.verdict]
        held = sum(q.verdict.status == RIGHT for q in ranges)
        tried = held + sum("range missed" in q.verdict.slips for q in ranges)
        if not tried:
            return []
        return [f"Ranges: {held} of {tried} hold; of ten at 80 % eight should, no more, no fewer."]

    def _all_parts(self):
        told = self.diary()
        if not told:
            return []
        named = [name for name in bank.ids() if name in told]
        right = sum(told[name]["last"] == RIGHT for name in named)
        first = sum(told[name].get("right_at") == 1 for name in named)
        return [
            f"All parts: {right} of {len(bank.ids())} right, {first} of them at the first try;"
            f" {len(named)} tried. Kept in {diary.NAME}."
        ]

    def diary(self):
        """What is known of this student's tries, by exercise; empty outside of a notebook."""
        return diary.read(self.id) if diary.is_on() else {}

    def review(self, most=5):
        """Ask again what was wrong, took several tries or is long ago, over all parts."""
        names = diary.due(self.diary(), bank.ids(), datetime.date.today(), most)
        if not names:
            print("Nothing is due: what you tried is right, and not long ago.")
        return [self.ask(name) for name in names]

    def points(self):
        """How many are right: the last line of a graded cell, where nbgrader reads it."""
        return sum(question.status == RIGHT for question in self.questions.values())


class Question:
    """One exercise with one student's numbers as attributes, in SI: `q.alpha`, `q.beta`."""

    def __init__(self, student, exercise_id):
        self.exercise = bank.find(exercise_id)
        self.student = student
        self.verdict = None
        self.tries = 0
        self._before = student.diary().get(exercise_id, {})
        self._numbers = bank.numbers(student.id, exercise_id)
        self._hints = 0

    def __repr__(self):
        return f"Question({self.exercise.id!r} for {self.student.id!r})"

    def __getattr__(self, name):
        given = self.__dict__.get("_numbers")
        if (
            given is not None
            and not name.startswith("_")
            and name != "draw"
            and hasattr(given, name)
        ):
            return getattr(given, name)
        names = sorted(set(vars(given)) - {"draw"}) if given else []
        raise AttributeError(
            f"this exercise has no number called {name!r}; it has {', '.join(names) or 'none'}"
        )

    def __dir__(self):
        return sorted(
            {"ask", "check", "hint", "show", "verdict"} | set(vars(self._numbers)) - {"draw"}
        )

    @property
    def status(self):
        return self.verdict.status if self.verdict else self._before.get("last", BLANK)

    @property
    def counted(self):
        """How many tries it took, where it was more than one: " at try 3", " after 2 tries"."""
        tries = self.tries + self._before.get("tries", 0)
        if tries < 2 or self.status not in (RIGHT, WRONG):
            return ""
        return f" after {tries} tries"

    @property
    def text(self):
        """The prompt, as it is read at a terminal."""
        exercise, x = self.exercise, self._numbers
        also = f" ({exercise.chinese})" if exercise.chinese else ""
        title = f"**{exercise.title}**{also}{self._level()}"
        return f"{title}\n\n{exercise.prompt(x)}\n\n*{exercise.kind.wants(x)}*"

    @property
    def markdown(self):
        """The prompt, as a page sets it."""
        return prices(self.text)

    def _level(self):
        known = levels.of(self.exercise.id)
        return f" · {known}" if known else ""

    def show(self):
        """Display the prompt: Markdown in a notebook, plain text elsewhere."""
        try:
            from IPython import display, get_ipython
        except ImportError:
            return print(self.text)
        if get_ipython() is None:
            print(self.text)
        else:
            both = {"text/markdown": self.markdown, "text/plain": self.text}
            display.display(both, raw=True)

    def check(self, answer):
        """Say what this kit thinks of an answer; the verdict stays in `q.verdict`, and how many
        tries there were in `q.tries`.
        """
        try:
            verdict = bank.grade(self.student.id, self.exercise.id, answer)
        except KeyboardInterrupt as stop:
            print(f"Stopped while running {stop or 'your answer'}: not marked.")
            return
        self.verdict = verdict
        if verdict.status in (RIGHT, WRONG, KEPT):
            self.tries += 1
            if diary.is_on():
                diary.write(self.student.id, self.exercise.id, verdict.status)
        _say(f"{SIGNS.get(verdict.status, '?')} {verdict.message}", _EDGES.get(verdict.status))

    def tick(self, *numbers):
        """For who studies alone: which points of the rubric an own explanation makes."""
        ticked = getattr(self.exercise.kind, "ticked", None)
        if ticked is None:
            return print("This question has no list to tick.")
        if self.status != KEPT:
            return print("Write and check your explanation first.")
        try:
            _print(ticked(numbers))
        except ValueError as fault:
            print(f"Could not read this: {fault}.")

    def hint(self):
        """Print one more hint each time; after the last, the exercise with other numbers and its
        answer.
        """
        from fabriclab.course.engine.exercises import example

        hints = example.rungs(self.exercise, self._numbers)
        self._hints += 1
        if self._hints <= len(hints):
            _print(f"Hint {self._hints} of {len(hints)}: {hints[self._hints - 1]}")
            return
        print("That was the last hint.")
        print(
            example.worked(self.exercise, self._numbers)
            or "Explain to somebody, or to a sheet of paper, where you are stuck: that often helps."
        )


def prices(text):
    """Markdown whose amounts of money stay what they are: two on a line would be set as a formula.

    >>> print(prices("it costs $60 k, or $2.5 M; type `$2 M`; $2^n$ is a formula"))
    it costs \\$60 k, or \\$2.5 M; type `$2 M`; $2^n$ is a formula
    """
    amount = r"(`[^`]*`)|\$(?=\d[\d.,]*(?:\s|[;:)]|$))"
    return re.sub(amount, lambda found: found[1] or r"\$", text)


def _say(text, edge):
    """A verdict: in a notebook with a tint at its edge, elsewhere as plain text."""
    try:
        from IPython import display, get_ipython
    except ImportError:
        return _print(text)
    filled = textwrap.fill(text, 110, break_on_hyphens=False)
    if get_ipython() is None:
        return print(filled + "\n", end="")
    colour = edge or "128,128,128"
    style = f"border-left:4px solid rgb({colour});background:rgba({colour},.1);padding:.3em .8em"
    shown = html.escape(text).replace("\n", "<br>")
    display.display(
        {"text/html": f'<div style="{style}">{shown}</div>', "text/plain": filled}, raw=True
    )


def _print(text):
    # one write, so that a notebook stores one piece of output
    print(textwrap.fill(text, 110, break_on_hyphens=False) + "\n", end="")
