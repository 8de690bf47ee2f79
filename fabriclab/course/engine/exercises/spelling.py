"""Spellings of quantities beside those of `units`: Chinese, spelled out, fractions, and times in
hours and minutes.

Everything here turns text into text that `units.read` knows, or into numbers of two such texts.
"""

import re
import unicodedata

from fabriclab import units

_UNITS = {
    "字节": "B",
    "比特": "b",
    "分钟": "min",
    "小时": "h",
    "秒": "s",
    "瓦": "W",
    "焦耳": "J",
    "米": "m",
    "美元": "dollars",
    "每": "/",
}
_PREFIXES = {
    "千": "k",
    "兆": "M",
    "吉": "G",
    "太": "T",
    "厘": "c",
    "毫": "m",
    "微": "u",
    "纳": "n",
    "皮": "p",
}
_CHINESE = re.compile(f"([{''.join(_PREFIXES)}]?)({'|'.join(_UNITS)})")
_ABOUT = re.compile(r"^\s*(?:大?约为?|大概|[~～∼≈≃]|(?:about|approx|ca)\b\.?)\s*", re.IGNORECASE)
_MYRIADS = {"万": 1e4, "亿": 1e8}
_SPELLED = {
    **{
        f"{long}byte": f"{short}B"
        for long, short in zip(("kilo", "mega", "giga", "tera", "peta"), "kMGTP", strict=True)
    },
    **{
        f"{long}bit": f"{short}b"
        for long, short in zip(("kilo", "mega", "giga", "tera", "peta"), "kMGTP", strict=True)
    },
    **{
        f"{long}{unit}": f"{short}{sign}"
        for long, short in (("", ""), ("kilo", "k"), ("mega", "M"), ("giga", "G"), ("milli", "m"))
        for unit, sign in (("watt", "W"), ("joule", "J"))
    },
    **{f"{pico}joule": f"{p}J" for pico, p in (("pico", "p"), ("nano", "n"), ("micro", "u"))},
    **{
        f"{long}{metre}": f"{short}m"
        for long, short in (("", ""), ("kilo", "k"), ("centi", "c"), ("milli", "m"))
        for metre in ("metre", "meter")
    },
    "byte": "B",
    "bit": "b",
    "dollar": "USD",
    "usd": "USD",
    "decibel": "dB",
    "percent": "%",
    "pct": "%",
    "hr": "h",
    "hour": "h",
    "min": "min",
    "minute": "min",
    "second": "s",
    "day": "days",
}
_WORD = re.compile(r"[A-Za-z]+")


def plain(text):
    """The same quantity in signs: without "about" or "=", units spelled out or in Chinese made
    signs, US$ and 万 written out.

    >>> plain("约 3.27 meters"), plain("US$ 78,046"), plain("7.8万美元"), plain("36倍")
    ('3.27 m', '$78,046', '78000 USD', '36 x')
    """
    said = unicodedata.normalize("NFKC", text)
    said = _ABOUT.sub("", said.strip().removeprefix("=")).strip().rstrip("。.")
    said = re.sub(r"^(?:US|USD)\s*\$?\s*(?=[\d.])|^US\s*\$\s*", "$", said)
    said = re.sub(r"^\$\s+", "$", said)
    said = re.sub(
        r"([\d.,]+)\s*([万亿])",
        lambda found: (
            f"{float(found[1].replace(',', '')) * _MYRIADS[found[2]]:.15g} "
            if re.fullmatch(r"\d[\d,]*(?:\.\d*)?|\.\d+", found[1])
            else found[0]
        ),
        said,
    )
    said = said.replace("倍", " x").replace("美元", "USD").replace("个", "")
    said = re.sub(r"\bper\s+cent\b", "%", said, flags=re.IGNORECASE)
    said = re.sub(r"\s+per\s+", "/", said)
    said = _CHINESE.sub(lambda found: _PREFIXES.get(found[1], "") + _UNITS[found[2]], said)
    return " ".join(_WORD.sub(_sign, said).split())


def _sign(found):
    word = found[0].lower()
    return _SPELLED.get(word) or _SPELLED.get(word.removesuffix("s")) or found[0]


def fraction(text):
    """A quantity written as a division or a ratio of two numbers: "28/5 s", "36:1".

    >>> fraction("28/5 s").value
    5.6
    """
    found = re.fullmatch(r"\s*([\d.,eE+-]+)\s*[/:]\s*([\d.,eE+-]+)\s*([^\d].*)?", text)
    if not found:
        raise ValueError("not a fraction")
    above, below = units.read(f"{found[1]} {found[3] or ''}"), units.read(found[2])
    if below.value == 0:
        raise ValueError("a division by zero")
    value = above.value / below.value
    return units.Quantity(value, above.dimension, 0.0, above.unit)


def sum_of_times(text):
    """A time in parts, largest first: "1 min 28 s".

    >>> sum_of_times("1 min 28 s").value
    88.0
    """
    parts = re.findall(r"([\d.]+)\s*([A-Za-z]+)(?:\s*(?:,|and)?\s*)", text)
    whole = re.fullmatch(r"(?:[\d.]+\s*[A-Za-z]+(?:\s*(?:,|and)?\s*))+", text)
    read = [units.read(" ".join(part)) for part in parts] if whole and len(parts) > 1 else []
    scales = [units.UNITS[part.unit][1] for part in read]
    if (
        not read
        or any(part.dimension != "time" for part in read)
        or scales != sorted(set(scales), reverse=True)
    ):
        raise ValueError("not a time in parts")
    return units.Quantity(sum(part.value for part in read), "time", 0.0, read[-1].unit)


def without_noun(text, words):
    """A count without the thing counted, where the question itself names it: "24 senders" -> "24".

    >>> without_noun("24 senders", "How many senders fit?"), without_noun("24 cats", "senders")
    ('24', '24 cats')
    """
    found = re.fullmatch(r"(.*\d)\s*([A-Za-z][A-Za-z -]*)\.?", text.strip(), re.DOTALL)
    if not found or found[2] in units.UNITS:
        return text
    asked = {_stem(word) for word in re.findall(r"[A-Za-z]+", words)}
    given = [_stem(word) for word in re.findall(r"[A-Za-z]+", found[2])]
    return found[1] if all(len(word) > 2 and word in asked for word in given) else text


def _stem(word):
    return word.lower().removesuffix("s")
