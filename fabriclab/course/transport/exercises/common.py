"""What several of these rooms use."""

from fabriclab.units import Gbps, si, us


def _path(draw, alphas=(1.5, 2, 2.5, 3, 4, 5), rates=(100, 200, 400, 800)):
    return {"alpha": draw.pick("alpha", alphas) * us, "beta": draw.pick("beta", rates) * Gbps}


def _says(x):
    """A path in words; the rate in bits, as ports are sold."""
    return f"α = {si(x.alpha, 's')} and β = {si(x.beta, 'b/s')} one way"
