"""Fixtures of the figures: one browser, a page for each figure, and a tab in which nothing may go wrong."""

import pytest
from browser import browser
from figure_pages import FIGURES, write_page


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def folder_of_pages(tmp_path_factory):
    """A folder with a page for each figure."""
    root = tmp_path_factory.mktemp("figures")
    for name in FIGURES:
        write_page(root, name)
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
