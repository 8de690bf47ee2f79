"""What happens to a log on its way: lines lost, doubled, swapped or split."""


def damaged(text, rng):
    """`text` after one to three accidents, drawn from `rng`."""
    lines = text.splitlines(keepends=True)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        kind = rng.choice(("drop", "double", "swap", "split"))
        if kind == "drop" and len(lines) > 1:
            del lines[at]
        elif kind == "double":
            lines.insert(at, lines[at])
        elif kind == "swap":
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            cut = rng.randrange(len(lines[at]))
            lines[at : at + 1] = [lines[at][:cut] + "\n", lines[at][cut:]]
    return "".join(lines)


def says(signs, *arguments):
    """What a reader's signs say, as a list."""
    return [sign.says for sign in signs(*arguments)]
