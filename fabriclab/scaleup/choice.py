"""Which scale-up domain: the field guide's selection matrix as a rule, and beside it a number that
a reader can question.

The matrix asks how many GPUs there are and who made them. What a job feels is the time of its
collectives, and that depends on rate and latency inside a domain, and on how much has to leave it.

Sources: field guide, selection matrix; domains as in the catalogue.
"""

import math
from dataclasses import replace

import numpy as np

from fabriclab import catalog
from fabriclab.catalog.paths import Path
from fabriclab.catalog.scaleup import Domain
from fabriclab.checks import (
    Values,
    count,
    each,
    flag,
    instance,
    nonnegative,
    scalar,
    scalar_or_array,
)
from fabriclab.collectives import rabenseifner_allreduce, ring_allreduce

MATRIX = ((8, "NVL8"), (72, "NVL72"), (144, "NVL144"), (576, "NVL576"))


def matrix_row(gpus: Values, nvidia: bool = True) -> str:
    """The name of what the text's matrix recommends for `gpus`: it counts what the product's name
    counts.

    Without `nvidia`, PCIe up to 64, where the matrix is silent and the text's own limit stands in,
    and Ethernet above. Above 576 of NVIDIA's, scale-out.

    >>> matrix_row(64), matrix_row(100), matrix_row(1000), matrix_row(100, nvidia=False)
    ('NVL72', 'NVL144', 'scale-out', 'Ethernet scale-up')
    """
    gpus = scalar("gpus", count("gpus", gpus))
    if not scalar("nvidia", flag("nvidia", nvidia)):
        return "PCIe scale-up" if gpus <= catalog.PCIE_64.packages else "Ethernet scale-up"
    return next((name for most, name in MATRIX if gpus <= most), "scale-out")


def _domain(domain):
    if not isinstance(domain, catalog.Domain):
        raise ValueError(f"domain must be a catalog.Domain, not {domain!r}")
    return domain


def bisection(domain: Domain) -> float:
    """Bytes per second one way between two halves of a switched domain: ``floor(packages/2) ·
    per_direction``.

    >>> from fabriclab.units import TB
    >>> [round(bisection(domain) / TB, 1) for domain in (catalog.NVL8, catalog.NVL72)]
    [1.8, 32.4]
    """
    if _domain(domain).fabric != "switched":
        raise ValueError(
            f"domain must be switched, not {domain.name}: a tree's narrowest level is"
            " PcieTree.across"
        )
    return domain.packages // 2 * domain.per_direction


def overlaid(domain: Domain, planes: Values) -> Domain:
    """The domain with `planes` of its fabric side by side: so many times the rate, at the same
    reach and latency.

    >>> overlaid(catalog.ETHERNET_512, 36).per_direction == catalog.NVL72.per_direction
    True
    """
    planes = int(scalar("planes", count("planes", planes)))
    return replace(
        _domain(domain),
        name=f"{domain.name.split(',')[0]}, {planes} planes",
        per_direction=planes * domain.per_direction,
    )


def domain_allreduce(
    size: Values, gpus: Values, domain: Domain, between: Path = catalog.NDR
) -> float:
    """Seconds of an AllReduce of `size` bytes over `gpus` packages, in one domain or in as many as
    it takes.

    Inside one: the better of a ring and Rabenseifner's algorithm, a ring alone in a tree. Both are
    a ReduceScatter and an AllGather, so over several domains, all counted full, what comes between
    the two is added: an AllReduce of M/packages over each package's own port of the path `between`.
    `size` may be an array.

    >>> from fabriclab.units import MB, us
    >>> [round(domain_allreduce(64 * MB, 64, domain) / us) for domain
    ...     in (catalog.NVL8, catalog.NVL72, catalog.PCIE_64)]
    [542, 152, 2126]
    """
    gpus, domain = int(scalar("gpus", count("gpus", gpus))), _domain(domain)
    if not isinstance(between, catalog.Path):
        raise ValueError(f"between must be a catalog.Path, not {between!r}")
    inside = _allreduce(
        size,
        min(gpus, domain.packages),
        domain.latency,
        domain.per_direction,
        domain.fabric == "switched",
    )
    if gpus <= domain.packages:
        return inside
    return inside + _allreduce(
        nonnegative("size", size) / domain.packages,
        math.ceil(gpus / domain.packages),
        between.alpha,
        between.beta,
    )


def _allreduce(size, ranks, alpha, beta, switched=True):
    ring = ring_allreduce(size, ranks, alpha, beta)
    return (
        scalar_or_array(np.minimum(ring, rabenseifner_allreduce(size, ranks, alpha, beta)))
        if switched
        else ring
    )


def compare(
    size: Values, gpus: Values, domains: tuple[Domain, ...] = catalog.DOMAINS
) -> list[tuple]:
    """(domain, domains it takes, seconds of the AllReduce) for each of `domains`, fastest first.

    >>> from fabriclab.units import MB
    >>> [domain.name for domain, _, _ in compare(64 * MB, 64)][:2]
    ['NVL576', 'NVL144']
    """
    gpus, size = int(scalar("gpus", count("gpus", gpus))), scalar("size", nonnegative("size", size))
    domains = [
        instance("domains", domain, catalog.Domain, "those of catalog.DOMAINS")
        for domain in each("domains", domains)
    ]
    rows = [
        (domain, math.ceil(gpus / domain.packages), domain_allreduce(size, gpus, domain))
        for domain in domains
    ]
    return sorted(rows, key=lambda row: row[2])
