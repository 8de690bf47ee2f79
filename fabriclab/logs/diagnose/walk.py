"""The five steps in the chapter's order, the verdict that the table of causes gives, and how both
are told.
"""

from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from fabriclab.logs.diagnose import collective, counters, gpu, pairwise, physical
from fabriclab.logs.diagnose.causes import CAUSES, FELT, SIGNS, SLOW, SOUND
from fabriclab.logs.diagnose.evidence import STEP_OF, TOLD
from fabriclab.logs.diagnose.finding import Finding
from fabriclab.logs.diagnose.folder import gather
from fabriclab.logs.page import NOTEBOOK, wrap

STEPS = {  # the chapter's workflow: the step, who looks, and the command that would show it
    1: ("GPU utilisation", gpu.gpu, "dcgmi dmon -e 1001,1002 -c 60, or nvidia-smi dmon -s u -c 60"),
    2: (
        "NCCL log and tests",
        collective.collective,
        "NCCL_DEBUG=INFO mpirun … all_reduce_perf -b 8 -e 8G -f 2",
    ),
    3: (
        "point to point",
        pairwise.point_to_point,
        "ib_write_bw -a --report_gbits between hosts of the job",
    ),
    4: (
        "PFC and ECN counters",
        counters.congestion,
        (
            "perfquery -x twice, with date -Is before each; on Ethernet show pfc counters, show"
            " pfcwd stats, ethtool -S"
        ),
    ),
    5: ("physical layer", physical.physical, "mlxlink -d DEVICE -c at both ends; ibnetdiscover"),
}
CLEAR, LIKELY = (4, 3), (2, 2)  # score, and lead over the next cause
NAMES = 3  # a sign of this weight names a cause by itself
_SHOWN = 3  # findings of a step, in the report


@dataclass(frozen=True)
class Step:
    """One step of the walk: the `files` looked at, what they showed, and the `command` that would
    show more.
    """

    number: int
    name: str
    files: tuple[str, ...]
    findings: tuple[Finding, ...]
    command: str

    @property
    def looked(self):
        """Whether anything here bears on this step."""
        return bool(self.files or self.findings)

    @property
    def sound(self):
        """Whether a measurement showed that this step is in order, and none that it is not."""
        signs = {finding.sign for finding in self.findings}
        return bool(signs & SOUND[self.number]) and not signs & SLOW


@dataclass(frozen=True)
class Diagnosis:
    """What a folder's files say together.

    `cause` and `layer` by name, None where undecided or healthy; `confidence` "clear", "likely",
    "healthy" or "cannot decide"; `between` the causes that are left then; `also` other causes that
    a sign names by itself; `evidence_for` and `evidence_against` the findings that weigh for and
    against the cause, or the first of those left; `next` what to measure or do; `unread` files with
    the reason, `notes` on the files as a whole. `scores` is the table's sum for each cause, best
    first.
    """

    path: str
    steps: tuple[Step, ...]
    cause: str | None
    layer: str | None
    confidence: str
    between: tuple[str, ...]
    also: tuple[str, ...]
    evidence_for: tuple[Finding, ...]
    evidence_against: tuple[Finding, ...]
    next: tuple[str, ...]
    unread: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    scores: tuple[tuple[str, int], ...]

    @property
    def status(self):
        """The command's exit status: 0 healthy, 1 a fault, 2 nothing that decides."""
        if self.confidence == "healthy":
            return 0
        return 1 if self.cause or self.between else 2

    @property
    def odd(self):
        """The findings that stand out by themselves, as ``fabriclab read`` marks them."""
        return tuple(finding for step in self.steps for finding in step.findings if finding.odd)

    @property
    def unjudged(self):
        """Whether rates were measured that only the port's own rate could judge."""
        return any(
            finding.sign.endswith("-unjudged") for step in self.steps for finding in step.findings
        )

    @property
    def verdict(self):
        """The conclusion in a sentence."""
        if self.cause:
            return f"{self.cause}: {self.layer} ({self.confidence})"
        if self.confidence == "healthy":
            return "healthy: all five steps were looked at, and each is in order"
        if len(self.between) > 1:
            return (
                "cannot decide between"
                f" {' and '.join((', '.join(self.between[:-1]), self.between[-1]))}"
            )
        if self.between:
            return f"cannot decide: {self.between[0]} fits best, but too little speaks for it"
        if any(finding.sign in SLOW for step in self.steps for finding in step.findings):
            return "cannot decide: something is slow, and nothing here says why"
        if self.unjudged:
            return (
                "cannot decide: whether it is slow depends on what a port should carry, which"
                f" nothing here tells (port = … in {TOLD})"
            )
        if self.odd:
            names = list(dict.fromkeys(finding.sign for finding in self.odd))
            return (
                "cannot decide: no cause is named, but this stands out: "
                + ", ".join(names[:4])
                + (f" and {len(names) - 4} more" if len(names) > 4 else "")
            )
        if self.unread:
            return "cannot decide: no fault found in what was read, but not all files could be read"
        missing = [step.name for step in self.steps if not step.sound]
        return (
            "cannot decide: no fault found, but not enough evidence to call it healthy; missing:"
            f" {', '.join(missing)}"
        )

    def __repr__(self):
        return wrap(report(self))

    def _repr_html_(self):
        return f"<pre>{escape(wrap(report(self), NOTEBOOK)).replace('$', '&#36;')}</pre>"


def diagnose(path: Path) -> Diagnosis:
    """The `Diagnosis` of the incident whose files lie in the folder at `path`.

    Each file is recognised by its content, as `logs.read` does; ``incident.toml`` may tell
    what no tool prints (see `evidence`). Five steps in the chapter's order (Monitoring and
    debugging) turn readings into signs, the table of `causes` weighs the signs, and a cause is
    named only where it leads. Raises ValueError for what is no folder, an empty one, one of more
    than 500 files, and one in which nothing could be read.
    """
    evidence = gather(path)
    if not evidence.files:
        reason = f"; {evidence.unread[0][0]}: {evidence.unread[0][1]}" if evidence.unread else ""
        raise ValueError(f"{evidence.path}: no file of a tool known here{reason}")
    steps, marks = [], list(evidence.signs())
    for number, (title, look, command) in STEPS.items():
        files = tuple(
            file for file, reading in evidence.files if STEP_OF.get(type(reading)) == number
        )
        found = [Finding(number, *sign, file, odd=True) for file, at, sign in marks if at == number]
        found += look(evidence)
        found += [
            Finding(number, "test-died", reason, file, odd=True)
            for file, at, reason in evidence.died
            if at == number
        ]
        steps.append(Step(number, title, files, tuple(dict.fromkeys(found)), command))
    findings = _also(steps)
    return _conclude(evidence, steps, findings)


def _also(steps):
    """All findings, and what only several steps together show."""
    signs = {finding.sign for step in steps for finding in step.findings}
    if "slow" in signs and {"nccl-good", "pairs-good"} <= signs:
        says = (
            "steps take longer, but collectives and pairs reach their rates: the time goes"
            " elsewhere"
        )
        if signs & {"gpu-low", "gpu-holes", "input-cures", "input-partly"}:
            more = Finding(1, "slow-without-network", says, "steps 1 to 3")
        else:
            more = Finding(1, "slow-elsewhere", says, "steps 1 to 3")
        steps[0] = replace(steps[0], findings=(*steps[0].findings, more))
    return [finding for step in steps for finding in step.findings]


def weigh(signs: set) -> tuple[tuple, ...]:
    """The score of every cause, the sum of the table over `signs`, best first.

    Raises KeyError for a sign that the table does not hold.

    >>> weigh({"nccl-low", "slow-port"})[0]
    ('link', 5)
    """
    scores = {cause: sum(SIGNS[sign].get(cause, 0) for sign in set(signs)) for cause in CAUSES}
    return tuple(sorted(scores.items(), key=lambda pair: -pair[1]))


def _conclude(evidence, steps, findings):
    signs = {finding.sign for finding in findings}
    scores = weigh(signs)
    (first, best), (_, second) = scores[:2]
    cause, between, confidence = None, (), "cannot decide"
    for words, (least, lead) in (("clear", CLEAR), ("likely", LIKELY)):
        if best >= least and best - second >= lead:
            cause, confidence = first, words
            break
    if cause and not _may_be_named(cause, signs, steps):
        cause, confidence = None, "cannot decide"
    if cause is None and best >= 1:
        between = tuple(key for key, score in scores if score >= max(1, best - 1))[:3]
    elif (
        cause is None
        and all(step.sound for step in steps)
        and not signs & SLOW
        and not evidence.unread
        and not any(finding.odd for finding in findings)
    ):
        confidence = "healthy"
    about = cause or (between[0] if between else None)
    named = tuple(CAUSES[key].name for key in between)
    return Diagnosis(
        evidence.path,
        tuple(steps),
        CAUSES[cause].name if cause else None,
        CAUSES[cause].layer if cause else None,
        confidence,
        named,
        tuple(
            CAUSES[key].name
            for key in CAUSES
            if key not in (cause, *between)
            and any(SIGNS[sign].get(key, 0) >= NAMES for sign in signs)
        ),
        *(
            tuple(finding for finding in findings if way * SIGNS[finding.sign].get(about, 0) > 0)
            for way in (1, -1)
        ),
        _next(cause, between, steps),
        evidence.unread,
        evidence.notes(),
        tuple((CAUSES[key].name, score) for key, score in scores),
    )


def _may_be_named(cause, signs, steps):
    """Whether a cause that leads is one: something must be slow, or a sign name it; "and no fault"
    is only said where all else was looked at.
    """
    if cause == "counters":
        return all(step.sound for step in steps if step.number != 4)
    return bool(signs & FELT) or any(SIGNS[sign].get(cause, 0) >= NAMES for sign in signs)


def _next(cause, between, steps):
    """What to do about the cause; or what would tell those left apart,
    and the steps not looked at.
    """
    if cause:
        return (CAUSES[cause].next,)
    missing = [step for step in steps if not step.looked] or [
        step for step in steps if not step.sound and not between
    ]
    return tuple(
        [
            *(CAUSES[key].next for key in between),
            *(f"step {step.number}, {step.name}: {step.command}" for step in missing),
        ][:4]
    )


def report(found: Diagnosis) -> str:
    """The lines that ``fabriclab diagnose`` prints: the walk, the verdict, for and against, what
    next.
    """
    count = sum(len(step.files) for step in found.steps)
    said = [
        f"{found.path}: {count} file{'s' * (count != 1)} read"
        + (f", {len(found.unread)} not" if found.unread else "")
    ]
    said += [f"  not read: {file}: {reason}" for file, reason in found.unread[:3]]
    if len(found.unread) > 3:
        said.append(f"  not read: {len(found.unread) - 3} more")
    said += [f"  note: {note}" for note in found.notes]
    telling = {
        finding: at for at, finding in enumerate((*found.evidence_for, *found.evidence_against))
    }
    for step in found.steps:
        said.append(
            f"{step.number} {step.name}: "
            + (
                ", ".join(step.files[:4])
                + (f" and {len(step.files) - 4} more" if len(step.files) > 4 else "")
                if step.files
                else "no file"
            )
        )
        ranked = sorted(step.findings, key=lambda finding: telling.get(finding, len(telling)))
        said += [f"    [{finding.sign}] {finding.says}" for finding in ranked[:_SHOWN]]
        if len(ranked) > _SHOWN:
            said.append(f"    … and {len(ranked) - _SHOWN} more")
        if not step.looked:
            said.append(f"    to look: {step.command}")
    said.append(f"= {found.verdict}")
    for words, findings in (("for", found.evidence_for), ("against", found.evidence_against)):
        if (found.cause or found.between) and findings:
            shown = list(dict.fromkeys(f"{finding.sign} ({finding.file})" for finding in findings))
            said.append(f"  {words}: {', '.join(shown[:6])}{' …' if len(shown) > 6 else ''}")
    if found.also:
        said.append(f"  also named by a sign: {', '.join(found.also)}")
    return "\n".join([*said, *(f"  next: {line}" for line in found.next)])
