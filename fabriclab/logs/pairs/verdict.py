"""What the cold pairs of a measurement say together: the parts suspected, how they are told."""

from dataclasses import dataclass

import numpy as np

from fabriclab.logs.pairs.evidence import SEEN
from fabriclab.logs.pairs.records import Part
from fabriclab.units import si

_DIRECTION = {"both": "both ways", "out": "sending", "in": "receiving"}


@dataclass(frozen=True, eq=False)
class Suspect:
    """A candidate alone: the `parts` that it can be, the `fraction` of the level at which its cells
    run, `gain` over nothing being wrong (2 ln of the likelihoods, less the price of one fault), how
    many `cells` pass it, how many speak `against` it.
    """

    parts: tuple[Part, ...]
    fraction: float
    gain: float
    cells: int
    against: int


@dataclass(frozen=True, eq=False)
class Finding:
    """One fault: the `parts` that explain it equally well, or so nearly that the evidence does not
    tell; its cells' `fraction` of the level; `cold`, the indices of the pairs that it explains;
    `gain` over the same verdict without it; and what to measure `next`, in words.
    """

    parts: tuple[Part, ...]
    fraction: float
    cold: np.ndarray
    gain: float
    next: str | None

    @property
    def decided(self):
        """Whether all `parts` are one place, whichever way it is slow."""
        return len({part.place for part in self.parts}) == 1

    @property
    def words(self):
        """Who it is, in a few words."""
        return _listed(self.parts)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What `explain` says. `level`: bytes per second of a healthy pair; `noise`: relative;
    `findings`, the surest first; `suspects`, each alone,
    ranked; `unexplained`: indices of the cold pairs that no part explains; `wired`: whether the
    wiring was known, and so leaves and spines; `warm`:
    how many pairs are well above the level, where they are more than the 2 % that may be wrong."""

    level: float
    noise: float
    findings: tuple[Finding, ...]
    suspects: tuple[Suspect, ...]
    unexplained: np.ndarray
    wired: bool
    warm: int = 0

    @property
    def healthy(self):
        """Whether nothing stands out, of pairs that carry something, at one level, and still enough
        to tell.
        """
        return (
            not self.findings
            and not self.unexplained.size
            and self.level > 0
            and not self.warm
            and not self.wild
        )

    @property
    def wild(self):
        """Whether the pairs scatter so far that not even a dead part would be seen."""
        return SEEN * self.noise >= 1

    @property
    def alike(self):
        """Whether three hosts or more are slow by one fraction: rather by one thing that they share
        than each by itself.
        """
        shares = [finding.fraction for finding in self.findings if finding.parts[0].kind == "host"]
        return len(shares) > 2 and max(shares) - min(shares) < 2 * self.noise

    @property
    def decided(self):
        """Whether there is a fault, every one of them one place, and no cold pair left over."""
        return (
            bool(self.findings)
            and all(finding.decided for finding in self.findings)
            and not self.unexplained.size
        )

    @property
    def parts(self):
        """The places that are decided, as the first `Part` of each finding."""
        return tuple(finding.parts[0] for finding in self.findings if finding.decided)

    @property
    def lines(self):
        """The verdict in a few lines."""
        said = []
        for finding in self.findings:
            cold = (
                f"{finding.cold.size:,} cold pair{'s' * (finding.cold.size != 1)} at"
                f" {finding.fraction:.0%} of {si(self.level, 'B/s')}"
            )
            said.append(
                f"{finding.words}: {cold}"
                if finding.decided
                else f"cannot decide which: {finding.words}: {cold}"
            )
            said += [f"next: {finding.next}"] if finding.next else []
        if many := self.unexplained.size:
            then = (
                f"measure {'it' if many == 1 else 'them'} again"
                if self.wired or many == 1
                else "give the wiring, and leaves, bundles and spines are looked at"
            )
            said.append(
                f"{many:,} cold pair{'s' * (many != 1)} that no {'part' if self.wired else 'host'}"
                f" explains: {then}"
            )
        if self.alike:
            said.append(
                "next: hosts that are slow alike may share one cause, such as the time at which"
                " they were measured: measure one of them again"
            )
        if said or self.healthy:
            return tuple(said) or (
                (
                    f"nothing stands out: no part is slow by {SEEN:g} times the scatter of"
                    f" {self.noise:.1%} around {si(self.level, 'B/s')}"
                ),
            )
        if not self.level:
            return ("no healthy pair to hold others against: most carry nothing at all",)
        if self.wild:
            return (
                (
                    f"cannot decide: pairs scatter by {self.noise:.0%} around"
                    f" {si(self.level, 'B/s')}, and not even a dead part would stand out; measure"
                    " again on a quiet network"
                ),
            )
        return (
            (
                f"cannot decide: most pairs at {si(self.level, 'B/s')}, but {self.warm:,} well"
                " above it: what most of them share is slow, or scarce by design"
            ),
        )

    def __repr__(self):
        return "\n".join(self.lines)


def _listed(parts):
    """Parts in words, those of one leaf's bundles together, ways of one place together."""
    ways, bundles, spines = {}, {}, [part.name for part in parts if part.kind == "spine"]
    for part in parts:
        if part.kind == "bundle":
            bundles.setdefault((part.name, part.way), []).append(part.spine)
        elif part.kind == "spine" and len(spines) > 2:
            ways["spine"] = [f"one of {len(spines)} spines, {spines[0]} to {spines[-1]}"]
        else:
            ways.setdefault(part.place, []).append(part)
    said = []
    for same in ways.values():
        if len(same) == 1:
            said.append(str(same[0]))
        else:
            directions = " or ".join(_DIRECTION[part.way] for part in same)
            said.append(f"{same[0].name} ({directions})")
    for (leaf, way), spines in bundles.items():
        which = " or ".join(spines) if len(spines) <= 2 else f"one of {len(spines)} spines"
        said.append(
            f"bundle {leaf} to"
            f" {which}{ {'both': '', 'out': ', upwards', 'in': ', downwards'}[way] }"
        )
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} or {said[-1]}"
