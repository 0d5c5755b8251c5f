"""Fixtures of the figures: one browser, a page for each figure, and a tab in which nothing may go wrong."""

import pytest
from browser import browser
from figure_pages import FIGURES

from grader.catalog import paths
from grader.integrations.figures import joining, placing

PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def folder_of_pages(tmp_path_factory):
    """A page for each figure, as the site places it but for the theme."""
    root = tmp_path_factory.mktemp("figures")
    for name in FIGURES:
        html = placing.placed("<h1>Lesson</h1><p>First words.</p><p id='after'>After.</p>", name, f"{name}.js")
        head = f"{PAGE}<title>Figure</title><style>body{{margin:16px}}{paths.FIGURE_STYLE.read_text('utf-8')}</style>"
        (root / f"{name}.html").write_text(f'{head}<body data-md-color-scheme="default">{html}', "utf-8")
        (root / f"{name}.js").write_text(joining.script(name), "utf-8")
    return root


@pytest.fixture(scope="module")
def tab(chromium):
    """One page of a browser for all figures; `tab.troubles` holds errors of scripts and requests to elsewhere."""
    context = chromium.new_context(viewport={"width": 1000, "height": 900})
    page = context.new_page()
    page.troubles = []
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("console", lambda said: page.troubles.append(said.text) if said.type in ("error", "warning") else None)
    context.on(
        "request", lambda request: None if request.url.startswith("file:") else page.troubles.append(request.url)
    )
    yield page
    context.close()


@pytest.fixture
def opened(tab, folder_of_pages):
    """Opens the page of a figure; afterwards nothing may have gone wrong."""

    def open_page(folder):
        tab.goto((folder_of_pages / f"{folder}.html").as_uri())
        return tab

    tab.troubles.clear()
    yield open_page
    assert tab.troubles == []
