"""The incident as a game, by keyboard and mouse: see `fabriclab.logs.diagnose.game`."""

from html import escape

import ipywidgets

from fabriclab.logs.diagnose.game import Game
from fabriclab.logs.page import NOTEBOOK, wrap


class Table:
    """The face of a `Game` in a notebook: choose a measurement and press Measure, choose a cause
    and press Name it. All is reached with Tab, the arrow keys and Enter. A page that runs no widget
    shows the symptom and the measurements.
    """

    def __init__(self, game):
        self.game = game
        wide = ipywidgets.Layout(width="46em")
        self.measure = ipywidgets.Dropdown(description="measure", layout=wide)
        self.cause = ipywidgets.Dropdown(
            description="cause",
            options=[("choose …", None), *((one, one) for one in game.causes)],
            layout=wide,
        )
        self.go = ipywidgets.Button(description="Measure")
        self.end = ipywidgets.Button(description="Name it")
        self.clock, self.page = ipywidgets.HTML(), ipywidgets.HTML()
        self.go.on_click(lambda _: self._measured())
        self.end.on_click(lambda _: self._named())
        self.widget = ipywidgets.VBox(
            [
                ipywidgets.HTML(f"<p>{escape(game.symptom)}</p>"),
                ipywidgets.HBox([self.measure, self.go]),
                ipywidgets.HBox([self.cause, self.end]),
                self.clock,
                self.page,
            ]
        )
        self._lay_out()

    def _lay_out(self):
        options = [(str(one), one.file) for one in self.game.choices]
        self.measure.options = options or [("all is measured", None)]
        self.measure.index = 0
        self.go.disabled = not self.game.choices
        self.clock.value = f"<b>{self.game.minutes} minutes</b>"

    def _measured(self):
        file = self.measure.value
        if file is not None:
            self._show(f"== {file}\n{self.game.measure(file)}")
            self._lay_out()

    def _named(self):
        if self.cause.value is not None:
            self._show(self.game.name(self.cause.value))

    def _show(self, text):
        """Put `text` above what was shown before: the newest is read first."""
        page = f"<pre style='line-height: 1.3'>{escape(wrap(text, NOTEBOOK))}</pre>"
        self.page.value = page.replace("$", "&#36;") + self.page.value

    def __repr__(self):
        lines = [self.game.symptom, *(f"  {one}" for one in self.game.choices)]
        return wrap("\n".join(lines), NOTEBOOK)

    def _repr_mimebundle_(self, include=None, exclude=None):
        view = self.widget._repr_mimebundle_()
        view = view[0] if isinstance(view, tuple) else view
        still = f"<pre>{escape(repr(self))}</pre>".replace("$", "&#36;")
        return view | {"text/html": still, "text/plain": repr(self)}


def incident(folder):
    """Play the incident whose files lie in `folder`, a path."""
    return Table(Game(folder))
