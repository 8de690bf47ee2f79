"""The text of nvidia-smi dmon and dcgmi dmon, from shares of busy time and of multiprocessors at
work.
"""


def nvidia_smi_dmon(samples):
    """The text that ``nvidia-smi dmon -s u`` prints: `samples` is a list, sample by sample, of each
    GPU's busy share, 0 to 1.

    >>> print(nvidia_smi_dmon([[0.93, 0.97]]).splitlines()[-1])
        1     97     48      0      0      0      0
    """
    lines = [
        "# gpu     sm    mem    enc    dec    jpg    ofa ",
        "# Idx      %      %      %      %      %      % ",
    ]
    for each in samples:
        lines += [
            f"{gpu:5d} {100 * busy:6.0f} {50 * busy:6.0f}" + "      0" * 4 + " "
            for gpu, busy in enumerate(each)
        ]
    return "\n".join(lines) + "\n"


def dcgmi_dmon(samples):
    """The text that ``dcgmi dmon -e 1001,1002`` prints: `samples`, sample by sample, of each GPU's
    (busy, active), 0 to 1.

    >>> print(dcgmi_dmon([[(0.99, 0.31)]]), end="")
    #Entity   GRACT        SMACT
    ID
    GPU 0     0.990        0.310
    """
    lines = ["#Entity   GRACT        SMACT        ", f"{'ID':36}"]
    for each in samples:
        lines += [
            f"{f'GPU {gpu}':10}{busy:<13.3f}{active:<13.3f}"
            for gpu, (busy, active) in enumerate(each)
        ]
    return "\n".join(lines) + "\n"
