"""Level 4 alive: at least one of many parts fails, and how often to save the state."""

from fabriclab import reliability as models
from fabriclab.course.behaviour import figures as drawings
from fabriclab.course.engine.explorer import explorer, slider, steps
from fabriclab.units import day, hour, minute, plural, si

APPENDIX = models.rate_from_mttf(50_000 * hour)  # cable and transceiver, as the appendix has them


PERIODS = [1, 2, 7, 14, 30, 54, 90, 180, 365]  # days
COSTS = [1, 2, 5, 10, 20, 30, *(minutes * minute for minutes in (1, 2, 5, 10, 30))]
INTERVALS = [
    *(minutes * minute for minutes in (1, 2, 5, 10, 20, 30)),
    *(hours * hour for hours in (1, 2, 3, 6, 12)),
    *(days * day for days in (1, 2, 7)),
]


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


def _draw(axes, rate, parts, days, cost, apart, interval):
    above, below = drawings.panels(axes, 2, 1)
    axes.figure.get_layout_engine().set(hspace=0.14)  # for the words between the two, which move
    return {
        "odds": drawings.at_least_one(above, _rates(rate), parts, days * day),
        "waste": drawings.checkpoints(below, cost, apart, interval=interval),
    }


def _move(artists, rate, parts, days, cost, apart, interval):
    drawings.move_at_least_one(artists["odds"], _rates(rate), parts, days * day)
    drawings.move_checkpoints(artists["waste"], cost, apart, interval=interval)


def _rates(rate):
    return {"this part": rate, "the appendix's, MTTF 50,000 h": APPENDIX}


@explorer(
    _draw,
    _move,
    [
        {
            "parts": slider(
                "parts n", [*(n for n in steps(1, 1e6) if n == int(n)), 8192, 16_384], "{:,.0f}"
            ),
            "mttf": slider(
                "MTTF of a part",
                [*steps(1e4, 1e7, hour), 50_000 * hour],
                lambda mttf: f"{mttf / hour:,.0f} h",
            ),
        },
        {"days": slider("period", PERIODS, "{} d")},
        {
            "cost": slider("a checkpoint takes", COSTS, "s"),
            "interval": slider("save every", INTERVALS, "s"),
        },
    ],
    alt="Above, the chance that at least one part fails against the size of the fleet; below, the"
    " share of time wasted against the work between checkpoints.",
    size=(8.2, 5.6),
)
def reliability(parts=24_576, mttf=1e5 * day, days=1, cost=1 * minute, interval=1 * hour):
    """Napkin Math 1.5 alive: the chance that one of `parts` fails within `days`, each failing once
    in `mttf` seconds on average.

    100,000 days is the text's 0.001 % a day; the appendix's 50,000 hours stand beside it (E-22).
    Below, what share of its time a job loses that any failure throws back to its last checkpoint:
    one of `cost` seconds after each `interval` of work.
    """
    rate = models.rate_from_mttf(mttf)
    apart = models.time_to_first(rate, parts)
    return (rate, parts, days, cost, apart, interval), [
        f"{plural(int(parts), 'part')}, {rate * day:.2g} a day: {_fleet(rate, parts, days)}.",
        f"The appendix's, 50,000 h: {_fleet(APPENDIX, parts, days)}.",
        _saving(apart, cost, interval),
    ]


def _fleet(rate, parts, days):
    chance = 1 - models.failure_free(rate, parts, days * day)
    return (
        f"at least one in {days} d {_chance(chance)};"
        f" {_number(models.expected_failures(rate, parts, days * day))} expected; first after"
        f" {si(models.time_to_first(rate, parts), 's', 3)}"
    )


def _saving(apart, cost, interval):
    best = models.young_interval(cost, apart)
    least, now = models.wasted_share(best, cost, apart), models.wasted_share(interval, cost, apart)
    return (
        f"If each stops the job: saving every {si(interval, 's', 3)} wastes {_chance(now)}, every"
        f" {si(best, 's', 3)} (Young) {_chance(least)}."
    )
