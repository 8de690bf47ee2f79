"""How many ways standards let one link be divided."""

VIRTUAL_LANES = 16  # VL0 to VL15: InfiniBand Architecture Specification, volume 1, virtual lanes
# all but VL15, which is for subnet management; a port may have 1, 2, 4, 8 or 15 of them (same
# source)
DATA_LANES = 15
TRAFFIC_CLASSES = 8  # of an Ethernet port: IEEE 802.1Q; PFC pauses each by itself (802.1Qbb)
