"""Numbers as colours and as short text, the same in every form of a picture."""

import functools
import math

# White is 0, blue is more, orange is less: colour-blind people can distinguish them too.
ZERO, MORE, LESS, NO_NUMBER = (255, 255, 255), (8, 69, 148), (166, 54, 3), (214, 214, 214)
DARK, LIGHT = (0, 0, 0), (255, 255, 255)


def background(value: float, scale: float) -> tuple[int, int, int]:
    """The colour of a value. ±scale and all values beyond have the darkest colours."""
    if math.isnan(value):
        return NO_NUMBER
    share = min(abs(value) / scale, 1.0)
    end = MORE if value >= 0 else LESS
    return tuple(round(zero + (full - zero) * share) for zero, full in zip(ZERO, end))


@functools.lru_cache(maxsize=4096)
def foreground(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    """Dark or light, whichever reads better on this colour: the contrast is at least 4.5."""
    return max((DARK, LIGHT), key=lambda text: contrast(text, colour))


def contrast(colour: tuple[int, int, int], background: tuple[int, int, int]) -> float:
    """The contrast of two colours as WCAG defines it, 1 to 21."""
    light, dark = sorted((_luminance(colour), _luminance(background)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def hexadecimal(colour: tuple[int, int, int]) -> str:
    """A colour as CSS writes it: #rrggbb."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def short(value: float, width: int = 4) -> str:
    """A number in at most `width` ≥ 3 characters: .24, 1.0, -.3, 11, 0, nan, inf; >> or << where it needs more."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-∞"
    for decimals in range(2, -1, -1):
        text = f"{value:.{decimals}f}"
        if float(text) == 0:
            return "0"
        text = text.replace("0.", ".", 1) if abs(float(text)) < 1 else text
        if len(text) <= width:
            return text
    return ">>" if value > 0 else "<<"


def exact(value: float) -> str:
    """A number with four decimals, as the lessons print it, so that a column of them is aligned."""
    text = f"{value:.4f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _luminance(colour: tuple[int, int, int]) -> float:
    """The relative luminance of a colour as WCAG defines it, 0 to 1."""
    channels = [channel / 255 for channel in colour]
    linear = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
