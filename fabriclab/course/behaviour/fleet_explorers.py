"""Level 4 alive: at least one of many parts fails, and how often to save the state. Floor 6."""

from fabriclab import reliability as models
from fabriclab.course.behaviour import figures as drawings
from fabriclab.course.engine import plot
from fabriclab.course.engine.explorer import Explorer, slider, steps
from fabriclab.units import day, hour, minute, si

APPENDIX = models.rate_from_mttf(50_000 * hour)  # cable and transceiver, as the appendix has them


def _seconds(value):
    return si(value, "s", 3)


def _number(value):
    """A number for people, to three digits: 0.246, 11.8, 2,950.

    >>> _number(0.24576), _number(2949.12)
    ('0.246', '2,950')
    """
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def _chance(value):
    """A chance for people, near both ends too.

    >>> _chance(0.21789), _chance(1e-5), _chance(0.99999246)
    ('21.8%', '0.001%', '99.999%')
    """
    if value >= 0.99:
        return "100%" if value > 0.999995 else f"{value:.3%}"
    return f"{value:.1%}" if value >= 1e-2 or not value else f"{100 * value:.2g}%"


def _hours(mttf):
    return f"{mttf / hour:,.0f} h"


def reliability(parts=24_576, mttf=1e5 * day, days=1, cost=1 * minute, interval=1 * hour):
    """Napkin Math 1.5 alive: the chance that one of `parts` fails within `days`, each failing once
    in `mttf` seconds on average.

    100,000 days is the text's 0.001 % a day; the appendix's 50,000 hours stand beside it (E-22).
    Below, what share of its time a job loses that any failure throws back to its last checkpoint:
    one of `cost` seconds after each `interval` of work.
    """
    controls = {
        "parts": slider(
            "parts n",
            [*(n for n in steps(1, 1e6) if n == int(n)), 8192, 16_384],
            "{:,.0f}".format,
            parts,
        ),
        "mttf": slider("MTTF of a part", [*steps(1e4, 1e7, hour), 50_000 * hour], _hours, mttf),
        "days": slider(
            "period", [1, 2, 7, 14, 30, 54, 90, 180, 365], lambda days: f"{days} d", days
        ),
        "cost": slider(
            "a checkpoint takes",
            [1, 2, 5, 10, 20, 30, 1 * minute, 2 * minute, 5 * minute, 10 * minute, 30 * minute],
            _seconds,
            cost,
        ),
        "interval": slider(
            "save every",
            [
                1 * minute,
                2 * minute,
                5 * minute,
                10 * minute,
                20 * minute,
                30 * minute,
                1 * hour,
                2 * hour,
                3 * hour,
                6 * hour,
                12 * hour,
                1 * day,
                2 * day,
                7 * day,
            ],
            _seconds,
            interval,
        ),
    }

    def rates(mttf):
        return {"this part": models.rate_from_mttf(mttf), "the appendix's, MTTF 50,000 h": APPENDIX}

    def move(parts, mttf, days, cost, interval):
        drawings.move_at_least_one(odds, rates(mttf), parts, days * day)
        apart = models.time_to_first(models.rate_from_mttf(mttf), parts)
        drawings.move_checkpoints(waste, cost, apart, interval=interval)
        return "\n".join(
            [
                (
                    f"{parts:,.0f} part{'s' * (parts != 1)},"
                    f" {models.rate_from_mttf(mttf) * day:.2g} a day:"
                    f" {_fleet(models.rate_from_mttf(mttf), parts, days)}."
                ),
                f"The appendix's, 50,000 h: {_fleet(APPENDIX, parts, days)}.",
                _saving(apart, cost, interval),
            ]
        )

    figure, axes = plot.new(8.2, 5.6)
    above, below = drawings.panels(axes, 2, 1)
    figure.get_layout_engine().set(hspace=0.14)  # for the words between the two, which move
    odds = drawings.at_least_one(above, rates(mttf), parts, days * day)
    waste = drawings.checkpoints(
        below, cost, models.time_to_first(models.rate_from_mttf(mttf), parts), interval=interval
    )
    return Explorer(
        controls,
        figure,
        [
            artist
            for artists in (odds, waste)
            for name, group in artists.items()
            if name != "legend"
            for artist in group
        ],
        move,
        alt=(
            "Above, the chance that at least one part fails against the size of the fleet; below,"
            " the share of time wasted against the work between checkpoints."
        ),
        rows=[["parts", "mttf"], ["days"], ["cost", "interval"]],
    )


def _fleet(rate, parts, days):
    chance = 1 - models.failure_free(rate, parts, days * day)
    return (
        f"at least one in {days} d {_chance(chance)};"
        f" {_number(models.expected_failures(rate, parts, days * day))} expected; first after"
        f" {_seconds(models.time_to_first(rate, parts))}"
    )


def _saving(apart, cost, interval):
    best = models.young_interval(cost, apart)
    least, now = models.wasted_share(best, cost, apart), models.wasted_share(interval, cost, apart)
    return (
        f"If each stops the job: saving every {_seconds(interval)} wastes {_chance(now)}, every"
        f" {_seconds(best)} (Young) {_chance(least)}."
    )
