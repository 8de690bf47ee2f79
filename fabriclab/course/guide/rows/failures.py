"""Rows of the field guide: failing fleets and checkpoints."""

from fabriclab import catalog, reliability
from fabriclab.course.engine.ledger import Row
from fabriclab.units import day, hour, minute

BAD_DAY = catalog.HUNDRED_THOUSAND


LLAMA = catalog.LLAMA3


NVIDIA_MTTF = 50_000 * hour  # of a GPU: the chapter's appendix


SAVING = (30, 60, 120)  # seconds a checkpoint


def _apart(share=1.0):
    """Seconds between failures of the guide's 100,000 GPUs, or of a share of them, at the middle of
    its counts.
    """
    return day / ((BAD_DAY.least + BAD_DAY.most) / 2 * share)


def _young(share=1.0):
    return ", ".join(
        f"{reliability.young_interval(cost, _apart(share)) / minute:.1f}" for cost in SAVING
    )


def _free(a_day):
    return reliability.failure_free(a_day / day, 1, hour)


def _daily():
    """The chance of a GPU to fail within a day."""
    return BAD_DAY.gpu / BAD_DAY.gpus


ROWS = [
    # failures
    Row(
        "failures/gpu",
        "field guide, failures",
        "about 50",
        lambda: reliability.expected_failures(
            reliability.rate_from_mttf(NVIDIA_MTTF), BAD_DAY.gpus, day
        ),
        "agrees",
        f"a day of 100,000 GPUs: {1e6 * _daily():.0f} ppm a day, an MTTF of"
        f" {day / _daily() / hour:,.0f} h, {365 * 100 * _daily():.2f} % a year; the appendix's"
        " 50,000 h give 48",
        between=(45, 55),
    ),
    Row(
        "failures/ppm",
        "field guide, failures",
        "a few ppm",
        _daily,
        "differs",
        "a day and GPU: 50 of 100,000 are 500 (E-B10)",
        between=(1e-6, 1e-5),
    ),
    Row(
        "failures/formula",
        "field guide, failures",
        "about 50",
        lambda: 5e-6 * 10_000 * 365,
        "differs",
        "5 ppm x 10,000 x 365, its formula, are 18, and a year's failures of a tenth of the GPUs"
        " (E-B10)",
        between=(45, 55),
    ),
    Row(
        "failures/flaps",
        "field guide, failures",
        "5-10",
        None,
        "assumed",
        "link flaps a day of 100,000 GPUs",
    ),
    Row(
        "failures/power",
        "field guide, failures",
        "about 10",
        None,
        "assumed",
        f"power supplies and fans a day; with the others {BAD_DAY.least:.0f} to {BAD_DAY.most:.0f},"
        f" one in {day / BAD_DAY.most / minute:.1f} to {day / BAD_DAY.least / minute:.1f} min."
        f" Llama 3 had {LLAMA.interruptions} unexpected interruptions on {LLAMA.gpus:,} GPUs in"
        f" 54 days: {LLAMA.interruptions / 54 / LLAMA.gpus * 1e5:.0f} a day of 100,000,"
        f" {LLAMA.by_gpu / 54 / LLAMA.gpus * 1e5:.0f} of them GPUs",
    ),
    Row(
        "failures/checkpoint",
        "field guide, failures",
        "1 h",
        lambda: reliability.young_interval(60, _apart()),
        "differs",
        f"often enough, it says; but only {100 * _free(BAD_DAY.most):.1f} to"
        f" {100 * _free(BAD_DAY.least):.1f} % of hours pass without a failure. Least is lost at"
        f" every {_young()} min for checkpoints of 30, 60, 120 s (E-B11); on 10,000 GPUs at every"
        f" {_young(0.1)} min",
    ),
    Row(
        "failures/ten-thousand",
        "field guide, summary",
        "tens",
        lambda: (BAD_DAY.least + BAD_DAY.most) / 2 / 10,
        "differs",
        f"failures a day of 10,000 cards: the list is for 100,000, so {BAD_DAY.least / 10:.1f} to"
        f" {BAD_DAY.most / 10:.1f} (E-B10)",
        between=(20, 99),
    ),
]
