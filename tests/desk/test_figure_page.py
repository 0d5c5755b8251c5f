"""The page of `make figure`: the lesson with its figure and the learner's own numbers, again after each check."""

import pytest

from grader import catalog
from grader.catalog import paths
from grader.reports import templating

pytestmark = pytest.mark.slow

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


def test_the_page_shows_the_learners_numbers_and_each_check_writes_it_again(said, learner, tab):
    file, right = learner
    page = paths.own_page(EXERCISE)
    said("check", "06", "--where", "0")
    assert not page.exists(), "nobody asked for it"
    done = said("figure", "06")
    assert done.returncode == 0 and "report-lessons" in done.stdout and "make check EX=06" in done.stdout
    shown = tab.load(page)
    assert len(shown.evaluate(OWN)) == len(shown.evaluate(WANTED)) == 2
    assert shown.evaluate(OWN)[0].replace("yours", "expected") != shown.evaluate(WANTED)[0]
    assert shown.locator("msqrt").count() > 3 and shown.locator(".kata-live .kata-title").is_visible()
    file.write_text(right, "utf-8")
    assert said("check", "06").returncode == 0
    shown.reload()
    assert [one.replace("yours", "expected") for one in shown.evaluate(OWN)] == shown.evaluate(WANTED)
    file.write_text("def (", "utf-8")
    said("figure", "06")
    shown.reload()
    assert shown.evaluate(OWN) == [] and "SyntaxError" in shown.locator(".kata-mine").inner_text()
    assert tab.complaints == []


def test_cells_that_a_figure_places_by_itself_lie_side_by_side(said, learner, tab):
    """The page's policy refuses style attributes, and without their places all cells lie in one."""
    said("figure", "08")
    shown = tab.load(paths.own_page(catalog.find("08").folder))
    boxes = [cell.bounding_box() for cell in shown.locator(".kata-live .turning").all()]
    assert len(boxes) > 3 and len({(box["x"], box["y"]) for box in boxes}) == len(boxes)


def test_a_page_lets_its_own_script_run_and_no_other(tab, tmp_path):
    path = tmp_path / "page.html"
    body = "<p id=a>a</p><img src=x onerror=\"document.getElementById('a').textContent = 'c'\">"
    template = templating.ENVIRONMENT.from_string(
        f'{{% extends "reports/templates/page.html" %}}{{% block main %}}{body}{{% endblock %}}'
    )
    script = "document.getElementById('a').textContent = 'b'"
    path.write_text(templating.document(template, "A & B", script=script), "utf-8")
    page = tab.load(path)
    assert page.locator("#a").text_content() == "b"
    assert page.title() == "A & B"
