"""Drawings for level 1: eyes, error ratios before and after correction, budgets, reach, the latency of FEC, bills. Floor 5.

As in `fabriclab.figures.transport`, what an explorer brings to life is drawn by the same `move_...` that moves it.
"""

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle

from fabriclab import link
from fabriclab.figures import COLOURS, SERIES, drawing, log_axis
from fabriclab.units import Gbps, ns, si

TRACES = 96  # drawn of an eye: enough to show every transition, few enough to follow a slider


@drawing
def eye(ax, eye, code):
    """Figure 5: the eye of a `link.Eye` sent in `code`: its wave, the receiver's thresholds, the opening of each eye as a bar.

    Of many symbols the first are drawn, and those that come closest to a threshold; the openings are those of all.
    """
    raise NotImplementedError


@drawing
def waterfall(ax, codes, fecs, codeword_loss):
    """Bit error ratio against signal-to-noise for line codes `codes`, and the most that each of `fecs` can take for a `codeword_loss`."""
    raise NotImplementedError


@drawing
def codeword_loss(ax, codes, ber=2.4e-4):
    """Codewords lost against the bit error ratio before correction, for Reed-Solomon `codes`; `ber` is marked."""
    raise NotImplementedError


@drawing
def budget(ax, spent, budget):
    """Link budgets of `budget` dB as stacked bars; `spent` maps a link's name to (dB in its cable, dB in its connectors)."""
    raise NotImplementedError


@drawing
def reach(ax, media, lane_rates, copper, claims=()):
    """How far each of `media` reaches; of passive copper `copper` metres at each of `lane_rates` (bytes/s), and others' `claims` (`catalog.CopperReach`)."""
    raise NotImplementedError


@drawing
def fec_path(ax, tiers=(2, 3), per_switch=(100 * ns, 200 * ns)):
    """The longest path through a tree of each of `tiers`, switch by switch, and what FEC adds one way at `per_switch` seconds, least and most."""
    raise NotImplementedError


@drawing
def bill(ax, bills):
    """Dollars and watts of named `link.Bill`s: `bills` maps a name to its Bill."""
    raise NotImplementedError


@drawing
def shares(ax, cases):
    """A network's share of power over three bases: `cases` maps a name to its `link.PowerShares`."""
    raise NotImplementedError
