"""Where the numbers of the two texts are: for every entry of our list of them the rows of the ledger that hold it.

An entry is "R" and a number, in the order of the texts: 1 to 22 the opening, 23 to 27 the inversion and the levels, 28 to 49 wires,
50 to 60 transport, 61 to 89 the alpha-beta model, 90 to 139 topology, 140 to 170 behaviour, 171 to 177 cluster design, 178 to 196
sharing and monitoring, 197 to 214 the ceiling, 215 to 222 fallacies, 223 to 242 the appendices, 271 to 333 the field guide.
Rows are given by id, `*` standing for any letters; a sentence in place of rows says why an entry needs none.
"""

DERIVED = "ours, derived: the texts do not print it"
FORMULA = "a formula without a number; the models' own tests hold it"
FACT = "words, no number"
GENERATIONS = ("V100", "A100", "H100", "B200")

ENTRIES = {
    # the opening
    1: "opening/parameters opening/gradient", 2: "opening/gpus* opening/waiting cliff/node", 3: "opening/h100-*", 4: "cliff/nvlink-*", 5: "cliff/ndr", 6: "cliff/like-for-like", 7: "cliff/mixed figure-3/note-H100",
    8: "cliff/seconds", 9: "figure-2/*", 10: "figure-3/nvlink-over-pcie-*", 11: "figure-3/hbm-* figure-3/nvlink-?100 figure-3/nvlink-B200 figure-3/ib-* figure-3/pcie-* figure-3/year-*", 12: "figure-3/growth-*",
    13: " ".join(f"figure-3/note-{gpu}" for gpu in GENERATIONS), 14: "figure-3/note-newest", 15: "figure-3/one-way-*", 16: "figure-4/inside figure-4/phase", 17: "figure-4/across", 18: "figure-4/gap figure-4/across-older",
    19: "figure-4/idle", 20: "figure-4/drawn-*", 21: "figure-4/ratio figure-4/gpus", 22: "figure-4/nvlink-label",
    # the inversion and the levels
    23: "inversion/delay", 24: "inversion/elephant", 25: "inversion/bsp", 26: "levels/five", 27: "levels/patterns",
    # wires
    28: "pam4/levels pam4/bits pam4/rate", 29: "pam4/gap", 30: "fec/code", 31: "fec/per-link media/aoc-latency", 32: "fec/per-hop", 33: "fec/one-way-*", 34: "fec/both-ways-*", 35: "fec/three-tiers*", 36: "media/dac-*",
    37: "media/aoc-*", 38: "media/pluggable-reach", 39: "distance/gpus distance/links", 40: "distance/cost media/aoc-price", 41: "distance/power napkin-1.6/module", 42: "distance/power-older napkin-1.6/engine", 43: "distance/rack",
    44: "serdes/links", 45: "serdes/port serdes/power", 46: "serdes/share-*", 47: "budget/total budget/cable budget/connectors budget/margin", 48: "budget/copper-800G budget/lane", 49: "budget/quiz-100G",
    # transport
    50: "rdma/total-traffic", 51: "rdma/staging*", 52: "rdma/kernel rdma/offloaded", 53: "rdma/latency-gain", 54: "rdma/tcp-latency rdma/figure-7 rdma/copies rdma/zero-copies", 55: "rdma/gpudirect", 56: "rdma/infiniband-origin",
    57: "recovery/message recovery/offset recovery/tail-900MB recovery/packets", 58: "recovery/tail-950MB*", 59: "recovery/stall", 60: "checkpoint-1.1/gpus",
    # the alpha-beta model
    61: FORMULA, 62: "alpha-beta/n-star-ndr alpha-beta/alpha-ndr", 63: "alpha-beta/n-star-roce alpha-beta/alpha-roce alpha-beta/beta-roce", 64: "appendix/n-star", 65: "napkin-1.1/4KB napkin-1.1/4KB-ndr*", 66: "napkin-1.1/4KB-roce*",
    67: "napkin-1.1/4KB-ratio napkin-1.1/latency-gap", 68: "napkin-1.1/350MB napkin-1.1/350MB-ndr", 69: "napkin-1.1/350MB-roce", 70: "napkin-1.1/350MB-ratio", 71: "napkin-1.1/100MB*", 72: "napkin-1.1/4KB-bandwidth-share",
    73: "napkin-1.1/4KB-twice-the-link", 74: "napkin-1.1/350MB-twice-the-link", 75: DERIVED, 76: "figure-8/*", 77: FORMULA, 78: "napkin-1.2/compute napkin-1.2/work* napkin-1.2/utilisation appendix/h100-peak", 79: "napkin-1.2/payload",
    80: "napkin-1.2/ring-6GB", 81: "napkin-1.2/fraction", 82: "napkin-1.2/parameters-70B napkin-1.2/payload-70B napkin-1.2/ring-280GB", 83: "napkin-1.2/dominance*", 84: "napkin-1.2/175B", 85: DERIVED, 86: DERIVED, 87: "napkin-1.2/fabric", 88: DERIVED,
    89: "alpha-beta/alpha-parts",
    # topology
    90: "principles/*", 91: "definition-1.3/formula", 92: "definition-1.3/full", 93: "definition-1.3/4-1 definition-1.3/4x", 94: "definition-1.3/star", 95: "definition-1.3/all-to-all", 96: "definition-1.4/line-rate",
    97: "definition-1.4/share definition-1.4/loss-*", 98: DERIVED, 99: "rack/gpus", 100: "rack/down", 101: "rack/racks", 102: "definition-1.5/two-tier", 103: "definition-1.5/three-tier", 104: "definition-1.5/growth",
    105: "definition-1.5/cost-4096", 106: "definition-1.5/switches-4096", 107: "definition-1.5/cables-4096", 108: "definition-1.5/pods-4096", 109: "definition-1.5/pod", 110: "definition-1.5/same-switches",
    111: "definition-1.5/switches-65536*", 112: "definition-1.5/switch-price definition-1.5/cost-least definition-1.5/cost-most", 113: "hops/two-tier hops/three-tier hops/convention", 114: "hops/radix*",
    115: "napkin-1.3/bisection*", 116: "napkin-1.3/buffer napkin-1.3/data", 117: "napkin-1.3/time-1-1 napkin-1.3/as-allreduce", 118: "napkin-1.3/time-4-1", 119: "napkin-1.3/capital napkin-1.3/waste*", 120: DERIVED,
    121: "napkin-1.3/slowdown-alltoall", 122: "checkpoint-1.2/radix", 123: "rails/rails rails/drawn", 124: "napkin-1.4/traversal napkin-1.4/fat-tree* napkin-1.4/ratio-older", 125: "napkin-1.4/rail napkin-1.4/ratio",
    126: "napkin-1.4/efficiency*", 127: "napkin-1.4/one-switch", 128: "rails/nodes", 129: "lighthouse-1.1/one-hop", 130: FACT, 131: "dragonfly/cabling", 132: "dragonfly/taper dragonfly/slowdown", 133: "torus/*",
    134: "figure-11/fat-tree figure-11/dragonfly figure-11/torus figure-11/rail figure-11/butterfly", 135: "figure-11/unit", 136: "figure-11/cost-*", 137: DERIVED, 138: "checkpoint-1.4/spine", 139: FACT,
    # behaviour
    140: "bsp/web-delay", 141: "bsp/one-link", 142: "bsp/slower bsp/idle-gpus", 143: "bsp/gap bsp/run bsp/cost bsp/gpu-hour", 144: "bsp/compute-step", 145: "pfc/round-trip", 146: "pfc/hops pfc/cascade", 147: "pfc/freeze",
    148: "pfc/nodes pfc/victims", 149: "deadlock/equation-1", 150: "deadlock/watchdog", 151: "deadlock/war-story deadlock/servers", 152: "napkin-1.5/links napkin-1.5/transceivers", 153: "napkin-1.5/probability", 154: "napkin-1.5/none",
    155: "napkin-1.5/at-least-one napkin-1.5/percent", 156: "napkin-1.5/storm", 157: DERIVED, 158: "figure-12/offered figure-12/ratio", 159: "figure-12/ports", 160: "dcqcn/*", 161: "hpcc/*", 162: "ecmp/even", 163: "ecmp/collision",
    164: "ecmp/moe-pairs*", 165: "incast/buffer incast/fill", 166: "incast/drain", 167: "incast/feedback incast/bdp", 168: DERIVED, 169: FORMULA, 170: "incast/per-step",
    # cluster design
    171: "overlap/*", 172: "superpod/unit guide-superpod/nodes", 173: "superpod/injection", 174: "superpod/four-units", 175: "the maker's own table, which `topology.superpod_h100` is wired by", 176: "grand-teton/gpus grand-teton/clusters grand-teton/port",
    177: "superpod/memory superpod/host-memory superpod/adapters",
    # sharing and monitoring
    178: "sharing/capital", 179: "sharing/split sharing/rest", 180: "sr-iov/slice", 181: "isolation/burst", 182: "isolation/allreduce", 183: "isolation/lanes", 184: "waste/throughput waste/lengthening", 185: "waste/hours-*",
    186: "waste/money-*", 187: "counters/word", 188: "counters/polling", 189: "degraded/qsfp56 degraded/hdr", 190: "degraded/lanes", 191: "degraded/links degraded/share degraded/expected degraded/chance",
    192: "pairs/half pairs/healthy pairs/suspicious pairs/severe", 193: "pairs/raw pairs/payload*", 194: "checkpoint-1.5/gpus checkpoint-1.5/before checkpoint-1.5/after checkpoint-1.5/slowdown", 195: "checkpoint-1.5/busy checkpoint-1.5/utilisation", 196: "checkpoint-1.5/link",
    # the ceiling
    197: "density/xdr", 198: "density/rate density/port", 199: "density/asic", 200: "density/transceivers", 201: "optics/copper-112-* optics/lane-112", 202: "optics/copper-224-* optics/lane-224 optics/copper-doubles",
    203: "napkin-1.6/ports napkin-1.6/capacity", 204: "napkin-1.6/pluggable napkin-1.6/module", 205: "napkin-1.6/copackaged napkin-1.6/engine", 206: "napkin-1.6/saved", 207: "napkin-1.6/fleet*", 208: "napkin-1.6/gpus",
    209: "napkin-1.6/cluster*", 210: "cpo/tensor-parallel", 211: "cpo/per-gpu", 212: "density/scale", 213: "cpo/package", 214: "optics/fibre-reach",
    # fallacies
    215: "fallacy-bandwidth/small fallacy-bandwidth/hdr", 216: "fallacy-bandwidth/ndr", 217: "fallacy-bandwidth/twice fallacy-bandwidth/gain", 218: "fallacy-bandwidth/alpha", 219: "pitfall-taper/*", 220: "pitfall-iperf/*",
    221: "pitfall-placement/gpus", 222: "waste/congestion",
    # the appendices
    223: "appendix/nvlink* appendix/pcie* appendix/hdr-alpha appendix/tcp-alpha appendix/ndr-port alpha-beta/alpha-* napkin-1.2/fabric", 224: FORMULA, 225: FORMULA, 226: FORMULA, 227: FORMULA, 228: "appendix/ring appendix/tree",
    229: DERIVED, 230: "appendix/ring-rule", 231: "appendix/hierarchical", 232: "appendix/topk-*", 233: "appendix/break-even-*", 234: "appendix/bubble-*", 235: "appendix/interleaving*", 236: "appendix/tcp-over-ndr",
    237: "appendix/failures-*", 238: "appendix/other-parts", 239: "appendix/allreduce-70B", 240: "appendix/wan", 241: "appendix/mttf-*", 242: "appendix/hop appendix/fec appendix/range-*",
    # the field guide
    271: "tiers/bandwidth tiers/latency", 272: "tiers/domain", 273: "tcp/latency", 274: "guide-ib/rack guide-ib/across", 275: "guide-ib/?dr host/doubles", 276: "guide-ib/mellanox", 277: "guide-roce/price", 278: "guide-roce/gap",
    279: "guide-systems/colossus guide-systems/colossus-port", 280: "guide-systems/meta*", 281: "guide-roce/either guide-roce/large", 282: "guide-rails/shared guide-rails/adapters", 283: "guide-rails/rails guide-rails/one-hop",
    284: "superpod/gpus-heading guide-superpod/gpus", 285: "superpod/leaves guide-superpod/ports", 286: "superpod/spines", 287: "guide-superpod/storage", 288: "guide-systems/colossus-power", 289: FACT, 290: FACT, 291: "guide-nccl/*",
    292: FACT, 293: "guide-roce/operations", 294: "regimes/scale-up-count regimes/scale-up-power", 295: "regimes/scale-out-count regimes/scale-out-power", 296: "regimes/scale-across-count regimes/scale-across-power", 297: "campus/scale-up campus/xpus",
    298: "campus/scale-out", 299: "campus/scale-across", 300: "campus/ratio*", 301: "campus/hbm", 302: "esun/ratio", 303: "regimes/scale-up-nodes regimes/scale-out-gpus", 304: "esun/members", 305: "esun/ip esun/header",
    306: "esun/cos esun/ecn esun/flow-label esun/ttl", 307: "esun/gain", 308: "pcie/limit", 309: "pcie/x16", 310: "pcie/peer pcie/device", 311: "pcie/switch-latency", 312: "pcie/levels pcie/deep", 313: "ethernet/ports",
    314: "ethernet/latency ethernet/nvlink-latency", 315: "matrix/*", 316: "failures/gpu failures/ppm failures/formula", 317: "failures/flaps failures/power", 318: "the check against another cluster, in the note of failures/power",
    319: "failures/checkpoint", 320: "failures/ten-thousand", 321: "adapters/*", 322: "host/pcie5*", 323: "host/400", 324: "host/800", 325: "host/b200*", 326: "stack/hbm stack/nvl* stack/network* stack/wide",
    327: "numbers/nvlink", 328: "numbers/ib", 329: "numbers/roce", 330: "numbers/ten-thousand", 331: "numbers/pcie5*", 332: "numbers/connectx-7", 333: "guide/written",
}  # fmt: skip

# What the texts print and the list above passed over, by the section that prints it.
BESIDES = {
    "目的": "opening/purpose", "同步骨干网": "levels/collectives", "网络作为梯度总线": "cliff/wires", "训练步中的带宽断崖": "figure-4/millions", "信号完整性与 PAM4": "pam4/ports", "串扰均衡器、链路预算与功耗": "budget/frequency",
    "大规模同步并行（BSP）": "bsp/p99", "优先级流量控制（PFC）": "pfc/loss-stall", "看门狗恢复": "deadlock/watchdog-stall", "案例研究：NVIDIA DGX SuperPOD": "superpod/nvlink superpod/port", "InfiniBand 与 RoCE：行业结论": "grand-teton/iteration",
    "SR-IOV": "sr-iov/overhead", "链路级遥测": "counters/discards", "系统性调试工作流": "workflow/busy", "光互连": "optics/fibre-loss optics/electrical-path",
    "为什么以太网 TCP 不够": "tcp/collectives", "InfiniBand（IB）": "guide-ib/since", "RoCE v2": "guide-roce/ports", "xAI Colossus": "guide-systems/colossus-cooling guide-systems/year", "Google Gemini 集群（TPU）": "guide-systems/tpu",
    "Scale-Up vs Scale-Out": "regimes/*-latency campus/node campus/nvlink5", "PCIe Scale-Up 的上限": "pcie/suits", "以太网 Scale-Up": "ethernet/threshold", "一张总结": "stack/shared",
}  # fmt: skip
