"""A progress bar on stderr, where somebody looks: a terminal, or a notebook that takes long.

Pipes, logs and tests see nothing of it.
"""

import sys
import time

PATIENCE = {"terminal": 1.0, "notebook": 5.0}  # seconds before the bar shows


class Bar:
    """`bar = Bar("packets")`, then `bar.show(0.4)` as often as you like, and `bar.close()` at the
    end.
    """

    def __init__(self, what):
        where = (
            "terminal"
            if sys.stderr.isatty()
            else "notebook"
            if "ipykernel" in sys.modules
            else None
        )
        self.what, self.begun, self.next, self.drawn = (
            what,
            time.monotonic(),
            PATIENCE.get(where, float("inf")),
            False,
        )

    def show(self, share):
        """Draw it anew for a share done from 0 to 1, five times a second at most."""
        spent = time.monotonic() - self.begun
        if spent > self.next:
            self.next, self.drawn = spent + 0.2, True
            full = int(40 * share)
            left = f", {_words(spent * (1 - share) / share)} left" if share > 0.02 else ""
            print(
                f"\r{self.what} |{'=' * full}{' ' * (40 - full)}| {share:4.0%} "
                f" {_words(spent)}{left}   ",
                end="",
                file=sys.stderr,
                flush=True,
            )

    def close(self):
        """Take it away."""
        if self.drawn:
            print("\r" + " " * (75 + len(self.what)) + "\r", end="", file=sys.stderr, flush=True)


def _words(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
