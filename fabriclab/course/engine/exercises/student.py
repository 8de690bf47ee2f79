"""What a student holds in a notebook: `Student`, and the `Question` it asks."""

import textwrap

from fabriclab.course.engine.exercises import bank
from fabriclab.course.engine.exercises.core import BLANK, KEPT, RIGHT, identify


class Student:
    """A student by id: the numbers of every exercise follow from it.

    >>> me = Student("demo")
    >>> me.progress()
    0 of 0 right.
    """

    def __init__(self, student_id):
        self.id = identify(student_id)
        self.questions = {}

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
        """Print where each exercise asked so far stands."""
        marks = {RIGHT: "x", KEPT: "k"}
        asked = list(self.questions.values())
        width = max((len(question.exercise.title) for question in asked), default=0)
        lines = []
        for question in asked:
            lines.append(
                f"[{marks.get(question.status, ' ')}] {question.exercise.title:<{width}} "
                f" {question.status}"
            )
        kept = sum(question.status == KEPT for question in asked)
        total = sum(not question.exercise.kind.by_hand for question in asked)
        lines.append(
            f"{self.points()} of {total}"
            f" right{f', {kept} kept for your instructor' if kept else ''}."
        )
        print("\n".join(lines) + "\n", end="")

    def points(self):
        """How many are right: the last line of a graded cell, where nbgrader reads it."""
        return sum(question.status == RIGHT for question in self.questions.values())


class Question:
    """One exercise with one student's numbers as attributes, in SI: `q.alpha`, `q.beta`."""

    def __init__(self, student, exercise_id):
        self.exercise = bank.find(exercise_id)
        self.student = student
        self.verdict = None
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
        return self.verdict.status if self.verdict else BLANK

    @property
    def text(self):
        """The prompt in Markdown."""
        exercise, x = self.exercise, self._numbers
        return (
            f"**{exercise.title}**"
            f" ({exercise.chinese})\n\n{exercise.prompt(x)}\n\n*{exercise.kind.wants(x)}*"
        )

    def show(self):
        """Display the prompt: Markdown in a notebook, plain text elsewhere."""
        try:
            from IPython import display, get_ipython
        except ImportError:
            return print(self.text)
        if get_ipython() is None:
            print(self.text)
        else:
            display.display({"text/markdown": self.text, "text/plain": self.text}, raw=True)

    def check(self, answer):
        """Say what this kit thinks of an answer; the verdict stays in `q.verdict`."""
        self.verdict = bank.grade(self.student.id, self.exercise.id, answer)
        _print(self.verdict.message)

    def hint(self):
        """Print one more hint each time."""
        hints = self.exercise.hints
        if self._hints < len(hints):
            self._hints += 1
            _print(f"Hint {self._hints} of {len(hints)}: {hints[self._hints - 1]}")
        else:
            print(
                "That was the last hint. Ask a neighbour, or your instructor: explaining where you"
                " are stuck often helps."
            )


def _print(text):
    # one write, so that a notebook stores one piece of output
    print(textwrap.fill(text, 110, break_on_hyphens=False) + "\n", end="")
