"""Level 1, the wire: line codes and eyes (`signal`), error correction (`fec`), budgets of decibels,
watts and money (`budget`), light (`optics`), and
what counted errors say (`measured`).
"""

from fabriclab.link.budget import (
    Bill,
    PowerShares,
    link_margin,
    longest_cable,
    loss_per_metre,
    media_for,
    optics_bill,
    power_shares,
    propagation_delay,
    rack_power,
    serdes_power,
    tree_links,
)
from fabriclab.link.fec import (
    INTERLEAVE,
    KP4,
    KR4,
    ReedSolomon,
    fec_latency,
    links_on_path,
    switches_on_path,
)
from fabriclab.link.measured import bits_to_show, error_ratio_bounds
from fabriclab.link.optics import (
    Dividend,
    Planes,
    TreeOptics,
    accelerators_fed,
    energy_per_bit,
    multi_plane,
    optical_dividend,
    switch_ports,
    tree_optics,
    tree_tiers,
)
from fabriclab.link.signal import (
    NRZ,
    PAM4,
    Eye,
    LineCode,
    bit_error_ratio,
    eye,
    eye_error_ratio,
    optical_penalty,
    peak_penalty,
    power_penalty,
    pulse,
    snr_for,
    symbol_rate,
)

__all__ = [
    name
    for name in dir()
    if not name.startswith("_") and name not in ("budget", "fec", "measured", "optics", "signal")
]
