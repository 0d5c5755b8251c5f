"""The colours of palette.toml, as CSS, matplotlib and the terminal take them."""

import functools
from collections.abc import Collection, Iterable
from typing import Any

from grader.catalog import paths, tomllib

RGB = tuple[int, int, int]
ROOT = ":root { color-scheme: light dark; %s }\n@media (prefers-color-scheme: dark) { :root { %s } }\n"


@functools.cache
def palette() -> dict[str, Any]:
    """[light, dark] by name, and the colours of heat maps under "heat"; each as #rrggbb."""
    found: dict[str, Any] = tomllib.loads(paths.module("reports/palette.toml").read_text("utf-8"))
    return found


def heat(name: str) -> RGB:
    """A colour of heat maps: red, green and blue, 0 to 255."""
    text = palette()["heat"][name]
    red, green, blue = (int(text[place : place + 2], 16) for place in (1, 3, 5))
    return red, green, blue


def for_page(names: Collection[str] | None = None) -> str:
    """The colours as variables of a page that follows the reader's scheme. names: of those needed; None for all."""
    return ROOT % tuple(_declared((name, pair[scheme]) for name, pair in _pairs(names)) for scheme in (0, 1))


def within(selector: str, names: Collection[str] | None = None) -> str:
    """The colours as variables of an element, which follows its own scheme. names: as for for_page."""
    pairs = ((name, f"light-dark({light}, {dark})") for name, (light, dark) in _pairs(names))
    return f"{selector} {{ {_declared(pairs)} }}\n"


def _pairs(names: Collection[str] | None) -> list[tuple[str, list[str]]]:
    pairs = [(name, value) for name, value in palette().items() if isinstance(value, list)]
    return [(name, value) for name, value in pairs if names is None or name in names]


def _declared(values: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in values)
