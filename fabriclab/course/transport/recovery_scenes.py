"""A scene of lost packets: go-back-N against selective repeat."""

import numpy as np

from fabriclab.course.engine.scene import Scene, scene
from fabriclab.units import GB, si


def exchange(packets, lost, away, keeps):
    """Slot by slot, one packet per slot: [(slot, packet, again, fate)], a row per transmission, and
    (slots, packets) what the receiver has: 0 nothing, 1 kept behind a gap, 2 delivered in order.

    A packet takes `away` slots, and so does the answer; the first try of each in `lost` is lost. A
    receiver that `keeps` what comes behind a gap asks for the gap alone, and else for all from it.
    """
    rows, has, wanted, due, asked = [], np.zeros(packets, int), 0, {}, set()
    next_new, again, history, slot, arrivals = 0, [], [], 0, {}
    tried = set()
    while (has < 2).any():
        for gap in sorted(due.pop(slot, ())):
            if keeps:
                again.append(gap)
            else:
                next_new = gap
        if again or next_new < packets:
            packet = again.pop(0) if again else next_new
            next_new += packet == next_new
            is_lost = packet in lost and packet not in tried
            rows.append([slot, packet, packet in tried, "lost" if is_lost else ""])
            if not is_lost:
                arrivals[slot + away] = len(rows) - 1
            tried.add(packet)
        if slot in arrivals:
            row = rows[arrivals[slot]]
            packet = row[1]
            early = packet > wanted
            row[3] = "discarded" if has[packet] or (early and not keeps) else "kept"
            gaps = [p for p in range(wanted, packet) if not has[p]][: None if keeps else 1]
            for gap in set(gaps) - asked:
                asked.add(gap)
                due.setdefault(slot + away, []).append(gap)
            if row[3] == "kept":
                has[packet] = 1
                while wanted < packets and has[wanted]:
                    has[wanted] = 2
                    wanted += 1
        history.append(has.copy())
        slot += 1
    return rows, np.array(history)


@scene
def recovery(packets=24, lost=(5, 15), away=3, packet=4096, beta=50 * GB):
    """One window of packets under go-back-N and under selective repeat: what goes again."""
    runs = {
        "go-back-N": exchange(packets, set(lost), away, keeps=False),
        "selective repeat": exchange(packets, set(lost), away, keeps=True),
    }
    slot = packet / beta
    slots = max(len(history) for _, history in runs.values())
    times = slot * np.arange(slots)
    back, chosen = runs.values()
    again = {name: sum(row[2] for row in rows) for name, (rows, _) in runs.items()}
    notice = next(s for s, p, a, _ in back[0] if a)
    first = lost[0]
    stops = [
        (
            0.0,
            f"The same {packets} packets twice, one per {si(slot, 's')}; an answer takes"
            f" {2 * away} slots. Numbers {' and '.join(map(str, lost))} will be lost.",
        ),
        (
            slot * (first + 1),
            f"Packet {first} is lost on the way. The sender does not know, and goes on.",
        ),
        (
            slot * (first + 1 + away),
            f"Packet {first + 1} arrives, and {first} is missing. Go-back-N throws"
            " it away; selective repeat keeps it (orange). Both ask.",
        ),
        (
            slot * notice,
            f"The answer is back. Go-back-N begins again at {first}: all that was under way"
            f" goes again. Selective repeat sends {first} alone.",
        ),
        (
            slot * (len(chosen[1]) - 1),
            f"Selective repeat is done after {si(slot * (len(chosen[1]) - 1), 's')}:"
            f" {again['selective repeat']} packets were sent again.",
        ),
        (
            float(times[-1]),
            f"Go-back-N is done after {si(slot * (len(back[1]) - 1), 's')}: {again['go-back-N']}"
            f" packets were sent again for {len(lost)} lost, a whole window each.",
        ),
    ]
    shown = Scene(
        700,
        420,
        times,
        "us",
        stops=stops,
        seconds=1.0 * slots,
        digits=2,
        telling=slot * (notice + 1.5),
        alt="Packets run from a sender to a receiver under go-back-N and under selective repeat;"
        " two"
        " are lost. Go-back-N sends all that was under way again, selective repeat only the lost.",
    )
    left, right, index = 96, 604, np.arange(slots)
    for k, (name, (rows, history)) in enumerate(runs.items()):
        y0 = 18 + 206 * k
        sent, number, repeat, fate = (np.array(column) for column in zip(*rows))
        gone = (index[:, None] - sent) / away
        shown.texts(f"name {k}", x=14, y=y0, text=name, size=15, bold=1, align="left")
        shown.rects(
            f"ends {k}",
            x=[left - 82, right + 16],
            y=y0 + 24,
            w=66,
            h=44,
            fill="paper",
            stroke="ink",
            line=1.5,
            round=5,
        )
        shown.texts(
            f"end names {k}",
            x=[left - 49, right + 49],
            y=y0 + 46,
            size=13,
            text=np.array(["sender", "receiver"]),
        )
        shown.lines(
            f"wire {k}", x=left - 14, x2=right + 14, y=y0 + 46, y2=y0 + 46, stroke="line", line=2
        )
        stopped = fate == "lost"
        seen = (gone >= 0) & (gone <= np.where(stopped, 1.5 / away, 1.0))
        x = left + (right - left) * np.clip(gone, 0, np.where(stopped, 0.5, 1.0))
        bad = stopped & (gone > 0.5 / away) | (fate == "discarded") & (gone >= 1)
        fill = np.where(bad, "bad", np.where(repeat, "startup", "wire"))
        shown.rects(
            f"packets {k}",
            x=x - 15,
            y=y0 + 31,
            w=30,
            h=30,
            round=4,
            stroke="ink",
            line=1.2,
            fill=fill,
            alpha=np.where(seen, 1.0, 0.0),
            hold=("alpha",),
        )
        shown.texts(
            f"numbers {k}",
            x=x,
            y=y0 + 46,
            size=14,
            bold=1,
            fill="black",
            text=np.array([str(p) for p in number]),
            alpha=np.where(seen, 1.0, 0.0),
            hold=("alpha",),
        )
        has = history[np.minimum(index, len(history) - 1)]
        cell = (right - left + 164) / packets
        cx = 14 + cell * np.arange(packets)
        shown.texts(
            f"receiver {k}",
            x=14,
            y=y0 + 96,
            align="left",
            size=13,
            fill="muted",
            text="what the receiver has",
        )
        shown.rects(
            f"cells {k}",
            x=cx,
            y=y0 + 108,
            w=cell - 2,
            h=26,
            fill=np.array(["pale", "startup", "good"])[has],
        )
        shown.texts(
            f"cell names {k}",
            x=cx + cell / 2 - 1,
            y=y0 + 121,
            size=12,
            text=np.array([str(p) for p in range(packets)]),
            fill=np.where(has > 0, "black", "muted"),
        )
        out = (sent <= index[:, None]).sum(axis=1)
        more = ((sent <= index[:, None]) & repeat).sum(axis=1)
        shown.texts(
            f"count {k}",
            x=14,
            y=y0 + 154,
            size=14,
            bold=1,
            align="left",
            text=np.array(
                [
                    [f"{a} sent, {b} of them again, {c} delivered in order"]
                    for a, b, c in zip(out, more, (has == 2).sum(axis=1))
                ]
            ),
        )
    shown.rects(
        "key", x=[330, 420, 545], y=11, w=13, h=13, fill=np.array(["wire", "startup", "bad"])
    )
    shown.texts(
        "key words",
        x=[349, 439, 564],
        y=18,
        size=13,
        align="left",
        text=np.array(["first try", "again / kept", "lost / thrown away"]),
    )
    return shown
