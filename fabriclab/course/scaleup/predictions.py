"""What a reader of this part is asked to guess, in the order of the notebook."""

from fabriclab import catalog, scaleup
from fabriclab.course.engine.exercises.slips import Slip
from fabriclab.course.engine.predict import Prediction
from fabriclab.units import MB, Gbps

PCIE = scaleup.pcie_rate(5, coded=False)


def _beats():
    times = {domain.name: seconds for domain, _, seconds in scaleup.compare(16 * MB, 64)}
    return times["NVL8"] / times["NVL72"]


def _counts():
    rate = catalog.CAMPUS[0].rate
    return "both" if rate == catalog.B200.nvlink.both_directions else "one"


def _gain():
    host = scaleup.payload_rate(5, 256)
    return scaleup.behind_host(800 * Gbps, host) / scaleup.behind_host(400 * Gbps, host) - 1


PREDICTIONS = (
    Prediction(
        "scaleup.directions",
        "the directions that 14.4 Tb/s counts",
        _counts,
        options=("one", "both"),
    ),
    Prediction(
        "scaleup.to_all",
        "what one GPU sends to all the others together",
        lambda: scaleup.peer_share(PCIE, 64) * 63,
        "B/s",
        slips=(Slip("one peer", "that is for one peer", lambda: scaleup.peer_share(PCIE, 64)),),
    ),
    Prediction(
        "scaleup.nvl72",
        "what an NVL72 gives to each of its peers, one way",
        lambda: scaleup.peer_share(catalog.NVL72.per_direction, 72),
        "B/s",
    ),
    Prediction(
        "scaleup.ports",
        "ports of x16 on a switch of 144 lanes, one of them up",
        lambda: scaleup.PcieTree(64, 144, PCIE).down + 1,
    ),
    Prediction(
        "scaleup.levels",
        "levels for 64 GPUs",
        lambda: len(scaleup.PcieTree(64, 144, PCIE).limits),
        slips=(Slip("pairs", "a switch joins more than two", lambda: 6),),
    ),
    Prediction(
        "scaleup.gain",
        "what 800G instead of 400G gains",
        _gain,
        "%",
        slips=(Slip("port", "the slot holds the port back", lambda: 1.0),),
    ),
    Prediction(
        "scaleup.ipv4",
        "the share that is data under IPv4",
        lambda: scaleup.payload_efficiency(64, "IPv4"),
        "%",
        slips=(Slip("one", "headers cost more than nothing", lambda: 1.0),),
    ),
    Prediction(
        "scaleup.esun", "and under ESUN", lambda: scaleup.payload_efficiency(64, "ESUN"), "%"
    ),
    Prediction(
        "scaleup.packages",
        "GPU packages in an NVL144",
        lambda: next(d for d in catalog.NVLINK_DOMAINS if d.name == "NVL144").packages,
        slips=(Slip("dies", "the name counts dies", lambda: 144),),
    ),
    Prediction("scaleup.beats", "how many times faster the NVL72 is", _beats, "x"),
)
