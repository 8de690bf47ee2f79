"""How well a set of slow parts explains the cells: a likelihood that one wild cell cannot bend, and
its search.

Every cell is the healthy level times the least fraction among the parts it passes, with normal
noise; one cell in ten thousand may be anything (a measurement gone wrong). A part of which the path
is not known (one QP, hashed) slows each cell of its support with probability 1/k: a mixture. Score:
``2 ln L - faults (2 ln(parts) + ln(cells))``: the Bayesian information criterion with a price for
having searched (Chen and Chen 2008). A fault is believed where it gains `VERY_STRONG` or more (Kass
and Raftery 1995).
"""

import math

import numpy as np

VERY_STRONG = 10.0
LEAST_LOSS = 0.02  # of a cell's rate: less is no fault to name
SEEN, _WEIGHED = (
    5.0,
    2.0,
    # standard deviations of one measurement that a part must cost to be named, and to be weighed at
    # all
)
_ODD = 1e-4
_WILD = 4.0  # standard deviations from which a cell is another level
_WARMEST = 0.9
_MOST_FAULTS = 12
_LOOKED_AT = 24  # of the candidates that a first glance finds best


class Family:
    """Candidates alike: group g holds the records where one of `labels` is g; `parts(g)` names what
    that can be. `share` is the probability, by record, that the part is on its path; None where it
    surely is. `over`: by record, how many spines it is spread
    over, one of which the part is on; None where all of it meets the part."""

    def __init__(self, labels, many, parts, by_size, share=None, over=None):
        self.many, self.parts, self.share, self.over = many, parts, share, over
        # records in the order of their bandwidth, then parted by group, so that a median is a place
        # in the list
        group = np.stack([label[by_size] for label in labels], 1)
        keep = group >= 0
        record = np.broadcast_to(by_size[:, None], group.shape)[keep]
        group = group[keep]
        order = np.argsort(group.astype(np.int32), kind="stable")
        self.record, self.group = record[order], group[order]
        self.start = np.searchsorted(self.group, np.arange(many + 1))
        self.size = np.diff(self.start)

    def members(self, g):
        return self.record[self.start[g] : self.start[g + 1]]

    def left(self, at, before, cold, level):
        """What records `at` get where they got `before` and the part lets `cold` of a healthy
        `level` through.
        """
        if self.over is None:
            return np.minimum(before, cold)
        own = level - self.over[at] * (level - cold)
        return before - np.maximum(0.0, before - own) / self.over[at]

    def quantiles(self, values, free, part):
        """The lower quantile `part` of each group's `free` records, NaN where it has none."""
        counts = np.concatenate([[0], np.cumsum(free[self.record])])
        before = counts[self.start[:-1]]
        some = counts[self.start[1:]] - before
        at = np.searchsorted(counts, before + np.maximum(1, np.ceil(part * some).astype(int))) - 1
        return np.where(
            some > 0,
            (
                values[self.record[np.clip(at, 0, self.record.size - 1)]]
                if self.record.size
                else np.nan
            ),
            np.nan,
        )


class Fit:
    """What is left when the groups in `chosen`, (family, g), are slow: `level`, `fractions`,
    `score`; -inf where it cannot be.
    """

    def __init__(self, case, chosen=()):
        self.case, self.chosen = case, tuple(chosen)
        self.values, self.noise = values, noise = case.values, case.noise
        self.score, self.fractions = -math.inf, ()
        sure = [family.members(g) for family, g in self.chosen if family.share is None]
        outside = np.ones(values.size, bool)
        for at in sure:
            outside[at] = False
        free = outside.copy()
        # with a hashed part slow, up to half of what is outside may be cold
        outside &= values > 0  # what is dead tells no level
        if not outside.any():
            return
        near = np.quantile(
            values[outside], 0.5 if len(sure) == len(self.chosen) else 0.75, method="higher"
        )
        self.level = float(np.median(values[outside & (values >= near * (1 - _WILD * noise))]))
        self.width, self.predicted, self.hit = (
            noise * self.level,
            np.full(values.size, self.level),
            np.zeros(values.size, bool),
        )
        fractions = self._set_sure(sure)
        self.likely = self._log_likelihood(values, self.predicted)
        fits = all(
            (values[at] > self.predicted[at] + _WILD * self.width).sum() <= 0.02 * at.size
            for at in sure
        )
        for one in self.chosen:
            if one[0].share is not None:
                fractions[one], could = self._set_hashed(*one, free)
                fits &= could
        self.fractions = tuple(fractions[one] for one in self.chosen)
        if fits and all(cold <= self.case.least for cold in self.fractions):
            self.score = 2 * float(self.likely.sum()) - len(self.chosen) * self.case.price

    def _set_sure(self, sure):
        """Predict the cells of the parts that are surely on their paths; the fraction of each, from
        cells that no other such part shares.
        """
        overlap, fractions = np.zeros(self.values.size, int), {}
        for at in sure:
            overlap[at] += 1
        # a spread part takes from what the others leave, so it comes last
        for one in sorted(
            (one for one in self.chosen if one[0].share is None),
            key=lambda one: one[0].over is not None,
        ):
            family, at = one[0], one[0].members(one[1])
            own = self.values[at[overlap[at] == 1]] if (overlap[at] == 1).any() else self.values[at]
            # other faults only make cells colder: what the part lets through shows in its warmest
            # cells
            top = np.quantile(own, _WARMEST, method="lower")
            fractions[one] = cold = (
                float(np.median(own[own >= top - _WILD * self.width])) / self.level
            )
            self.predicted[at] = family.left(at, self.predicted[at], cold * self.level, self.level)
        return fractions

    def _set_hashed(self, family, g, outside):
        """Mix in a part that a hash puts on some of its cells' paths: (its fraction, whether about
        as many cells are cold as should be).
        """
        at = family.members(g)
        low = at[(self.values[at] < self.predicted[at] - _WILD * self.width) & ~self.hit[at]]
        alone = low[outside[low]]
        if not alone.size:
            return 1.0, False
        cold = float(np.median(self.values[alone])) / self.level
        chance = family.share[at[outside[at]]]
        could = abs(alone.size - chance.sum()) <= 4 * math.sqrt((chance * (1 - chance)).sum()) + 1
        share, slow = family.share[at], np.minimum(self.predicted[at], cold * self.level)
        self.likely[at] = np.logaddexp(
            np.log1p(-share) + self.likely[at],
            np.log(share) + self._log_likelihood(self.values[at], slow),
        )
        here = low[abs(self.values[low] - cold * self.level) <= _WILD * self.width]
        self.hit[here], self.predicted[here] = True, cold * self.level
        return cold, could

    def _log_likelihood(self, values, predicted):
        floor = math.log(1.5 * (1 - _ODD) / (_ODD * self.noise * math.sqrt(2 * math.pi)))
        return np.maximum(-0.5 * ((values - predicted) / self.width) ** 2, -floor)

    def free(self):
        """Records that no chosen part speaks for yet."""
        free = ~self.hit
        for family, g in self.chosen:
            if family.share is None:
                free[family.members(g)] = False
        return free

    def gains(self, family):
        """At a glance: how much each group of `family` would add to the score, at this level; -inf
        where it cannot be.
        """
        free, cold_below = self.free(), self.level - _WILD * self.width
        if family.share is not None:
            free &= self.values < cold_below
        level = family.quantiles(self.values, free, _WARMEST if family.share is None else 0.5)
        able = level <= self.case.least * self.level
        if not able.any():
            return np.full(family.many, -np.inf)
        at, group = family.record, family.group
        keep = able[group]
        at, group = at[keep], group[keep]
        slow = family.left(at, self.predicted[at], level[group], self.level)
        likely = self._log_likelihood(self.values[at], slow)
        if family.share is not None:
            share = family.share[at]
            likely = np.logaddexp(np.log1p(-share) + self.likely[at], np.log(share) + likely)
        else:
            warm = np.bincount(group, self.values[at] > slow + _WILD * self.width, family.many)
            able &= warm <= 0.02 * family.size
        return np.where(
            able, 2 * np.bincount(group, likely - self.likely[at], family.many), -np.inf
        )

    def alternatives(self):
        """Fits with one more group, best first: those that look best at a glance, and those that
        hold so much that the level moves.
        """
        chosen, tried = set(self.chosen), []
        # many hosts may be slow, each with few of the cells that a hashed spine can explain at one
        # stroke: no race between the two
        for hashed in (False, True):
            found = []
            for family in self.case.families:
                if (family.share is not None) == hashed:
                    gain = self.gains(family)
                    some = np.flatnonzero((gain > 0) | (family.size > self.values.size / 4))
                    found += [
                        (gain[g], family, int(g)) for g in some if (family, int(g)) not in chosen
                    ]
            found.sort(key=lambda one: -one[0])
            tried += [
                one
                for at, one in enumerate(found)
                if one[0] <= 0
                or (
                    at < _LOOKED_AT
                    and one[0] > max(0.5 * found[0][0] - 4 * VERY_STRONG, 0.5 * self.case.price)
                )
            ]
        fits = [self.case.fit((*self.chosen, (family, g))) for _, family, g in tried]
        return sorted((fit for fit in fits if fit.score > -math.inf), key=lambda fit: -fit.score)

    def added(self, rest):
        """The (family, g) that this fit has beyond `rest`."""
        return next(one for one in self.chosen if one not in rest.chosen)

    def without(self, j):
        return self.case.fit(self.chosen[:j] + self.chosen[j + 1 :])


class Case:
    """The cells' `values`, the `families` of candidates and the relative `noise`; fits and their
    alternatives are made once.
    """

    def __init__(self, values, families, noise):
        self.values, self.families, self.noise = values, families, noise
        self.least = 1 - max(LEAST_LOSS, _WEIGHED * noise)
        self.price = 2 * math.log(sum(family.many for family in families)) + math.log(values.size)
        self._fits, self._alternatives = {}, {}

    def fit(self, chosen=()):
        key = frozenset(chosen)
        if key not in self._fits:
            self._fits[key] = Fit(self, chosen)
        return self._fits[key]

    def alternatives(self, fit):
        key = frozenset(fit.chosen)
        if key not in self._alternatives:
            self._alternatives[key] = fit.alternatives()
        return self._alternatives[key]

    def search(self):
        """The best fit that a search finds: parts are added while they are believed, then each is
        held against every other.
        """
        none = self.fit()
        if none.score == -math.inf:
            return none
        sure = self._added(none, lambda family: family.share is None)
        ends = [self._refined(self._added(start)) for start in (none, sure)]
        return max(ends, key=lambda fit: fit.score)

    def _added(self, fit, wanted=lambda family: True):
        while len(fit.chosen) < _MOST_FAULTS:
            better = next(
                (other for other in self.alternatives(fit) if wanted(other.added(fit)[0])), None
            )
            if better is None or better.score < fit.score + VERY_STRONG:
                break
            fit = better
        return fit

    def _refined(self, fit):
        for _ in range(2 * _MOST_FAULTS):
            for j in range(len(fit.chosen)):
                rest = fit.without(j)
                if rest.score > fit.score - VERY_STRONG:
                    fit = rest
                    break
                other = self.alternatives(rest)
                if other and other[0].score > fit.score + 1e-6:
                    fit = other[0]
                    break
            else:
                return fit
        return fit


def scatter_of(values: np.ndarray) -> float:
    """Relative noise of the level that most cells share, from the shortest stretch that holds a
    third of them (half, where few).
    """
    values = values[values > 0.3 * values.max()]  # the dead and nearly dead hardly scatter
    many = values.size
    held = many // 2 + 1 if many < 24 else math.ceil(many / 3)
    if many < 4:
        return 0.0
    ordered = np.sort(values)
    stretch = ordered[held - 1 :] - ordered[: many - held + 1]
    at = int(stretch.argmin())
    middle = 0.5 * (ordered[at] + ordered[at + held - 1])
    # half-width in standard deviations of the middle third or half of a normal distribution
    return (
        float(stretch[at] / (2 * (0.43 if held < 0.4 * many else 0.67)) / middle) * _cautious(many)
        if middle > 0
        else 0.0
    )


def residual_noise(fit: Fit) -> float:
    """Relative noise of the cells that `fit` finds healthy: 1.4826 times the median deviation."""
    healthy = fit.values[fit.predicted > (1 - LEAST_LOSS) * fit.level]
    return float(1.4826 * np.median(abs(healthy - fit.level)) / fit.level) * _cautious(healthy.size)


def _cautious(many):
    """Two standard deviations of a median deviation of `many` draws: few cells may look quieter
    than they are.
    """
    return 1 + 2.3 / math.sqrt(many)
