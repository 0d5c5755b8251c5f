"""The hook that mkdocs.yml names. It adds the pages from outside docs/ and shows formulas without a script.

No computer is sure to have a font for formulas, and without one a fraction or a root is drawn with the wrong sizes. So
the site brings the signs that its pages use of STIX Two Math (SIL Open Font License), which the package ziamath ships.
Where that is not installed, the reader's own fonts are used, as site.css lists them.
"""

import html
import importlib.util
import io
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from grader import catalog
from grader.catalog import paths
from grader.integrations import figures
from grader.integrations.site import pages

SIGNS: set[str] = set()  # of the formulas of all pages so far
FONT = "math.woff"
# site.css names it first; without it the next name there is taken.
FONT_FACE = f"""@font-face {{ font-family: "Site Math"; src: url("{FONT}") format("woff"); font-display: swap; }}\n"""
MATH = re.compile(r"<math\b.*?</math>", re.S)
TAG = re.compile(r"<[^>]+>")
ITALIC = {0x41: 0x1D434, 0x61: 0x1D44E, 0x391: 0x1D6E2, 0x3B1: 0x1D6FC}  # first letters → the slanted ones
PLANCK = 0x210E  # the slanted h, which has no place among its neighbours


def on_config(config: MkDocsConfig) -> None:
    """Add the paths to the learner's section of the navigation, before the help that ends it."""
    assert config.nav, "mkdocs.yml has one"
    learn = next(iter(config.nav[0].values()))
    learn[-1:-1] = pages.by_path()


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add every page with links that fit the site, the images, and the site's own style and scripts."""
    site = pages.site()
    for name, text in site.pages.items():
        _put(files, File.generated(config, name, content=text))
    own_files = [paths.module(f"integrations/site/{name}") for name in ("scrolling.js", "iframe-worker.js")]
    assets = {f"assets/{path.name}": path for path in own_files}
    for name, path in (site.images | assets).items():
        _put(files, File.generated(config, name, abs_src_path=str(path)))
    style = paths.module("integrations/site/site.css").read_text("utf-8")
    face = FONT_FACE if font_file() else ""
    _put(files, File.generated(config, "assets/site.css", content=face + style))
    _put(files, File.generated(config, "assets/figures.css", content=figures.style()))
    for folder in pages.with_figure():
        _put(files, File.generated(config, pages.figure_of(folder), content=figures.script(folder)))
        for name, script in figures.heavy(folder).items():
            _put(files, File.generated(config, f"{pages.SHARED}/{name}", content=script))


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Convert the formulas of a page, draw its experiment, show the overview as cards. html: made from Markdown."""
    html = pages.with_mathml(html, page.file.src_uri)
    SIGNS.update(signs_of_formulas(html))
    for exercise in catalog.exercises():
        if page.file.src_uri == pages.page_of(exercise.folder):
            html = pages.with_bars(html, exercise.folder)
    return pages.cards(html) if page.file.src_uri == pages.OVERVIEW else html


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Place the figure of a lesson. The search has read the page before. output: the whole page."""
    for folder in pages.with_figure():
        if page.file.src_uri == pages.page_of(folder):
            return figures.place_figure(output, folder, f"../../{pages.figure_of(folder)}", f"../../{pages.SHARED}")
    return output


def on_post_build(config: MkDocsConfig) -> None:
    """Write the font of the formulas, which is known once all pages are made."""
    if font := font_file():
        (Path(config.site_dir) / "assets" / FONT).write_bytes(subset_font(font, SIGNS))


def font_file() -> Path | None:
    """The font as the package ships it; None where the package is not installed."""
    found = importlib.util.find_spec("ziamath")  # not imported: only the file is needed
    folders = found.submodule_search_locations if found else None
    path = Path(folders[0]) / "fonts" / "STIXTwoMath-Regular.ttf" if folders else None
    return path if path and path.is_file() else None


def signs_of_formulas(page: str) -> set[str]:
    """The signs of all formulas in the HTML of a page."""
    return {sign for formula in MATH.findall(page) for sign in html.unescape(TAG.sub("", formula))}


def subset_font(font: Path, signs: set[str]) -> bytes:
    """The font with these signs, upright and slanted, their larger forms, and its own copyright and licence."""
    from fontTools.subset import Options, Subsetter, load_font, save_font

    options = Options(flavor="woff", layout_features=["ssty"], name_IDs=["*"], notdef_outline=True)
    loaded = load_font(str(font), options)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes={PLANCK, *map(ord, signs), *filter(None, map(_slant, signs))})
    subsetter.subset(loaded)
    written = io.BytesIO()
    save_font(loaded, written, options)
    return written.getvalue()


def _put(files: Files, file: File) -> None:
    """Add a file, in place of one with the same path."""
    if earlier := files.get_file_from_path(file.src_uri):
        files.remove(earlier)
    files.append(file)


def _slant(sign: str) -> int | None:
    """The code of a letter as formulas slant it; None for other signs."""
    starts = [(first, to) for first, to in ITALIC.items() if first <= ord(sign) < first + 26]
    return starts[0][1] + ord(sign) - starts[0][0] if starts else None
