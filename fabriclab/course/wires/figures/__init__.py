"""Drawings for level 1: eyes, error ratios before and after correction, budgets, reach, the latency
of FEC, bills.

As in `fabriclab.course.transport.figures`, what an explorer brings to life is drawn by the same
`move_...` that moves it.
"""

from fabriclab.course.wires.figures.signal import TRACES, codeword_loss, eye, move_eye, waterfall
from fabriclab.course.wires.figures.spans import budget, media, move_budget, move_media, reach
from fabriclab.course.wires.figures.trees import bill, fec_path, shares
