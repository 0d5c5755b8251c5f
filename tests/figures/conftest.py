"""Fixtures of the figures: one browser, a page for each figure, and tabs in which nothing may go wrong."""

from types import SimpleNamespace

import pytest
from figure_pages import FIGURES, SIZE, new_tab, write_page
from made_once import made_once

LAYOUT_SHIFT = """window.shift = 0;
new PerformanceObserver(list => { for (const one of list.getEntries()) shift += one.value; })
.observe({type: 'layout-shift', buffered: true});"""


@pytest.fixture(scope="session")
def folder_of_pages(tmp_path_factory):
    def write(root):
        root.mkdir()
        for name in FIGURES:
            write_page(root, name)

    return made_once(tmp_path_factory, "figures", write)


@pytest.fixture(scope="module")
def tab(chromium):
    """One page of a browser for all figures that something is done to."""
    return new_tab(chromium)


@pytest.fixture(scope="module")
def untouched_tab(chromium):
    """One page of a browser for all figures that are looked at as they were loaded."""
    page = new_tab(chromium)
    page.add_init_script(LAYOUT_SHIFT)
    return page


@pytest.fixture
def opened(tab, folder_of_pages):
    """Opens the page of a figure; afterwards nothing may have gone wrong."""

    def open_page(folder):
        tab.goto((folder_of_pages / f"{folder}.html").as_uri())
        return tab

    tab.troubles.clear()
    yield open_page
    assert tab.troubles == []


def pytest_generate_tests(metafunc):
    """A file looks at every figure, or at those that it names in LOOKED_AT."""
    if "loaded" in metafunc.fixturenames:
        metafunc.parametrize("loaded", getattr(metafunc.module, "LOOKED_AT", FIGURES), indirect=True, scope="module")


@pytest.fixture(scope="module")
def loaded(request, untouched_tab, folder_of_pages):
    """Each figure, loaded once for all tests that look at it. shift: how far its load moved what was laid out."""
    untouched_tab.troubles.clear()
    untouched_tab.goto((folder_of_pages / f"{request.param}.html").as_uri())
    untouched_tab.wait_for_timeout(50)  # until a shift of the layout would have been told
    return SimpleNamespace(folder=request.param, page=untouched_tab, shift=untouched_tab.evaluate("shift"))


@pytest.fixture
def drawn(loaded):
    """A figure to look at: a test takes back what it changes. Nothing may have gone wrong."""
    yield loaded
    loaded.page.set_viewport_size(SIZE)
    assert loaded.page.troubles == []
