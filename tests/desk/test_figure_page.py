"""The page of `make figure`: the lesson with its figure and the learner's own numbers, again after each check."""

import pytest
from browser import browser

from grader import catalog
from grader.catalog import paths

EXERCISE = "06_scaled_dot_product_attention"
OWN = "[...document.querySelectorAll('.kata-mine table[data-name=yours]')].map(one => one.innerText)"
WANTED = "[...document.querySelectorAll('.kata-mine table[data-name=expected]')].map(one => one.innerText)"


@pytest.fixture
def learner(desk, relocate, monkeypatch):
    """The file of a learner who forgot the scale, and the right text."""
    relocate(desk, "DESK")
    monkeypatch.setenv("BROWSER", "true")  # a program that does nothing
    file = paths.stub(EXERCISE)
    right = paths.solution(EXERCISE).read_text("utf-8")
    file.write_text(right.replace(" / keys.shape[-1] ** 0.5", "", 1), "utf-8")
    return file, right


def test_the_page_shows_the_learners_numbers_and_each_check_writes_it_again(said, learner):
    file, right = learner
    page = paths.own_page(EXERCISE)
    said("check", "06", "--where", "0")
    assert not page.exists(), "nobody asked for it"
    done = said("figure", "06")
    assert done.returncode == 0 and "report-lessons" in done.stdout and "make check EX=06" in done.stdout
    with browser() as chromium:
        tab, troubles = chromium.new_page(), []
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("console", lambda message: troubles.append(message.text))
        tab.goto(page.as_uri())
        assert len(tab.evaluate(OWN)) == len(tab.evaluate(WANTED)) == 2
        assert tab.evaluate(OWN)[0].replace("yours", "expected") != tab.evaluate(WANTED)[0]
        assert tab.locator("msqrt").count() > 3 and tab.locator(".kata-live .kata-title").is_visible()
        file.write_text(right, "utf-8")
        assert said("check", "06").returncode == 0
        tab.reload()
        assert [one.replace("yours", "expected") for one in tab.evaluate(OWN)] == tab.evaluate(WANTED)
        file.write_text("def (", "utf-8")
        said("figure", "06")
        tab.reload()
        assert tab.evaluate(OWN) == [] and "SyntaxError" in tab.locator(".kata-mine").inner_text()
        assert troubles == []


def test_cells_that_a_figure_places_by_itself_lie_side_by_side(said, learner):
    """The page's policy refuses style attributes, and without their places all cells lie in one."""
    said("figure", "08")
    with browser() as chromium:
        tab = chromium.new_page()
        tab.goto(paths.own_page(catalog.find("08").folder).as_uri())
        boxes = [cell.bounding_box() for cell in tab.locator(".kata-live .turning").all()]
        assert len(boxes) > 3 and len({(box["x"], box["y"]) for box in boxes}) == len(boxes)
