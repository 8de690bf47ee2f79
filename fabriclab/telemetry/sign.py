"""What stands out in a reading."""

from typing import NamedTuple


class Sign(NamedTuple):
    """One thing that stands out in a reading: its name, for the table of causes to weigh, and what
    there is to say.
    """

    name: str
    says: str
