"""The hook that mkdocs.yml names. It adds the pages from outside docs/ and shows formulas without a script."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from grader import catalog
from grader.catalog import paths
from grader.integrations import figures
from grader.integrations.site import math_font, pages

SIGNS: set[str] = set()  # of the formulas of all pages so far


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
    face = math_font.FACE if math_font.source() else ""
    _put(files, File.generated(config, "assets/site.css", content=face + style))
    _put(files, File.generated(config, "assets/figures.css", content=figures.style()))
    for folder in pages.with_figure():
        _put(files, File.generated(config, pages.figure_of(folder), content=figures.script(folder)))
        for name, script in figures.heavy(folder).items():
            _put(files, File.generated(config, f"{pages.SHARED}/{name}", content=script))


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Convert the formulas of a page, draw its experiment, show the overview as cards. html: made from Markdown."""
    html = pages.with_mathml(html, page.file.src_uri)
    SIGNS.update(math_font.letters(html))
    for exercise in catalog.exercises():
        if page.file.src_uri == pages.page_of(exercise.folder):
            html = pages.with_bars(html, exercise.folder)
    return pages.cards(html) if page.file.src_uri == pages.OVERVIEW else html


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Place the figure of a lesson. The search has read the page before. output: the whole page."""
    for folder in pages.with_figure():
        if page.file.src_uri == pages.page_of(folder):
            return figures.placed(output, folder, f"../../{pages.figure_of(folder)}", f"../../{pages.SHARED}")
    return output


def on_post_build(config: MkDocsConfig) -> None:
    """Write the font of the formulas, which is known once all pages are made."""
    if font := math_font.source():
        (Path(config.site_dir) / "assets" / math_font.NAME).write_bytes(math_font.subset(font, SIGNS))


def _put(files: Files, file: File) -> None:
    """Add a file, in place of one with the same path."""
    if earlier := files.get_file_from_path(file.src_uri):
        files.remove(earlier)
    files.append(file)
