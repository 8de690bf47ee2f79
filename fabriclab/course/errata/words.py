"""Errata of words: where a text says something that no number decides, and what is so. Numbers are
rows of the other files.
"""

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Saying:
    """`id` of the erratum, `where` it stands, what the text `says`, what is `so`, and the `source`
    of that.
    """

    id: str
    where: str
    says: str
    so: str
    source: str


SAYINGS = (
    Saying(
        "E-T3",
        "before 网络虚拟化",
        "the fabric is shared on condition of sacrificing (在牺牲…的前提下) the predictability that"
        " training needs",
        "it is to be shared without sacrificing it",
        "the chapter's English source; the next sentences ask for hard boundaries",
    ),
    Saying(
        "E-T4",
        "链路级遥测",
        "0.1 percentage points (个百分点) of links degraded",
        "0.1 per cent of them: a share of all links, not a difference of two shares",
        "the chapter's English source; 3,000 links x 0.1 % is the text's own 3",
    ),
    Saying(
        "E-T5",
        "Summary; Key Takeaways",
        "channel-based flow control, channel at link level (信道)",
        "credit-based, credits (信用): a sender may send what the receiver has granted room for",
        "InfiniBand Architecture Specification, volume 1; the chapter itself has 信用 elsewhere",
    ),
    Saying(
        "E-T5",
        "案例研究：DGX SuperPOD; Key Takeaways",
        "link-oriented fat-tree, link-optimised (面向链路, 按链路优化)",
        "rail-optimised (轨道优化): one network for each GPU position of the nodes",
        "the chapter's own list of sections has 轨道优化拓扑",
    ),
    Saying(
        "E-T5",
        "Napkin Math 1.6",
        "a requirement of building (建筑学)",
        "an architectural one (架构)",
        "the chapter's English source",
    ),
    Saying(
        "E-T6",
        "网络虚拟化; the price of a cut",
        "words and prices run together, set as a formula",
        "two dollar signs in one paragraph were taken for mathematics; the sums are a cluster's"
        " price and its idle share",
        "the chapter's English source; this kit's notebooks keep to one a paragraph",
    ),
    Saying(
        "E-B2",
        "field guide, IB vs RoCE; xAI Colossus",
        "xAI's Colossus runs on InfiniBand",
        "on Spectrum-X, which is Ethernet",
        "NVIDIA's announcement of 28 October 2024",
    ),
    Saying(
        "E-B3",
        "field guide, Meta 24K",
        "RoCE only, Wedge400 switches, three tiers without oversubscription",
        "two clusters, one of them InfiniBand; the RoCE one has Minipack2 switches at the rack and"
        " is 1:7 above its pods",
        "Meta Engineering 2024; Llama 3 paper 2024, section 3.3.1; Gangidi et al. 2024",
    ),
    Saying(
        "E-B5",
        "field guide, NCCL",
        "RCCL and HCCL are equivalents of NVLink",
        "of NCCL: they are libraries of collectives, AMD's and Huawei's; NVLink is a link",
        "the two libraries' own documentation",
    ),
    Saying(
        "E-B6, E-X3",
        "field guide, PFC",
        "PFC does not support several priorities",
        "a PAUSE of PFC names which of eight priorities it stops, as the chapter's Definition 1.7"
        " has it; what spreads is congestion within a priority",
        "IEEE 802.1Qbb",
    ),
    Saying(
        "E-X8",
        "field guide, ECN; the chapter, Meta Grand Teton",
        "PFC and DCQCN together bring RoCE near InfiniBand",
        "the chapter reports that Meta switched DCQCN off at 400G and relied on PFC and on control"
        " in the collective library",
        "Gangidi et al. 2024, SIGCOMM",
    ),
)


class Table:
    """Sayings as a table: HTML in a notebook, plain lines elsewhere."""

    def __init__(self, shown):
        self.sayings = shown

    def _repr_html_(self):
        head = "".join(
            f"<th style='text-align:left'>{h}</th>"
            for h in ("Erratum", "Where", "The text says", "It is so", "Source")
        )
        cells = [(s.id, s.where, s.says, s.so, s.source) for s in self.sayings]
        body = "".join(
            "<tr>"
            + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row)
            + "</tr>"
            for row in cells
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self):
        return "\n".join(
            f"{s.id}: {s.where} says {s.says}; {s.so} ({s.source})" for s in self.sayings
        )


def table():
    """All sayings, as a `Table`.

    >>> print(str(table()).splitlines()[0][:20])
    E-T3: before 网络虚拟化 s
    """
    return Table(SAYINGS)
