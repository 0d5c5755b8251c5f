"""The font of the site's formulas: STIX Two Math (SIL Open Font License), with the signs that the pages use alone.

No computer is sure to have a font for formulas, and without one a fraction or a root is drawn with the wrong sizes. The
package ziamath ships this one; where it is not installed, the reader's own fonts are used, as site.css lists them.
"""

import html
import importlib.util
import io
import re
from pathlib import Path

NAME = "math.woff"
# site.css names it first; without it the next name there is taken.
FACE = f"""@font-face {{ font-family: "Site Math"; src: url("{NAME}") format("woff"); font-display: swap; }}\n"""
MATH = re.compile(r"<math\b.*?</math>", re.S)
TAG = re.compile(r"<[^>]+>")
ITALIC = {0x41: 0x1D434, 0x61: 0x1D44E, 0x391: 0x1D6E2, 0x3B1: 0x1D6FC}  # first letters → the slanted ones
PLANCK = 0x210E  # the slanted h, which has no place among its neighbours


def source() -> Path | None:
    """The font as the package ships it; None where the package is not installed."""
    found = importlib.util.find_spec("ziamath")  # not imported: only the file is needed
    folders = found.submodule_search_locations if found else None
    path = Path(folders[0]) / "fonts" / "STIXTwoMath-Regular.ttf" if folders else None
    return path if path and path.is_file() else None


def letters(page: str) -> set[str]:
    """The signs of all formulas in the HTML of a page."""
    return {sign for formula in MATH.findall(page) for sign in html.unescape(TAG.sub("", formula))}


def subset(font: Path, signs: set[str]) -> bytes:
    """The font with these signs, upright and slanted, their larger forms, and its own copyright and licence."""
    from fontTools.subset import Options, Subsetter, load_font, save_font

    options = Options(flavor="woff", layout_features=["ssty"], name_IDs=["*"], notdef_outline=True)
    loaded = load_font(str(font), options)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes={PLANCK, *map(ord, signs), *filter(None, map(_slanted, signs))})
    subsetter.subset(loaded)
    written = io.BytesIO()
    save_font(loaded, written, options)
    return written.getvalue()


def _slanted(sign: str) -> int | None:
    """The code of a letter as formulas slant it; None for other signs."""
    starts = [(first, to) for first, to in ITALIC.items() if first <= ord(sign) < first + 26]
    return starts[0][1] + ord(sign) - starts[0][0] if starts else None
