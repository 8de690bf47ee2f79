"""Level 3 alive: a network of one's own choosing with its bill and its bounds, and what a dead part takes away. Floor 6."""


def fabric(family="leaf-spine", hosts=1024, radix=64, oversubscription=1, rails=8, payload=100e9):
    """A network alive: its wiring, bill, bisection, path lengths, and what AllReduce and AllToAll need at least."""


def failure(design="leaf-spine, 1,024 hosts", part="leaf switch"):
    """One dead part alive: hosts lost, bisection left, longer paths, and the wiring with the part crossed out."""
