"""What stands out in a reading: the one type that `fabriclab read` prints and `diagnose` weighs."""

from collections.abc import Iterator
from typing import NamedTuple


class Sign(NamedTuple):
    """One thing that stands out: its `name`, a key of `diagnose.causes.SIGNS`, and what it
    `says`.
    """

    name: str
    says: str


def marked(signs: Iterator | list[Sign], indent: str = "  ") -> list[str]:
    """The lines of a report for `signs`.

    >>> marked([Sign("port-down", "link is not up")])
    ['  ! link is not up']
    """
    return [f"{indent}! {sign.says}" for sign in signs]
