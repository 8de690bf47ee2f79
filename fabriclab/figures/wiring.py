"""The wiring of any network, drawn so that it stays legible at any size. Floor 5."""

from fabriclab.figures import drawing


@drawing
def wiring(ax, network, lost=None):
    """The wiring of `network`, a `topology.Topology`; `lost` names a part as `topology.failures` does, "spine switch"."""


def move_wiring(artists, network, lost=None):
    """Set the artists of `wiring` to another network or another lost part."""
