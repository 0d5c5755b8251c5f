"""The report of a learner, made from a real checkout and opened in a real browser."""

import itertools
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from browser import CONTRASTS
from copies import copy
from made_up_class import result_of

from grader import catalog
from grader.catalog import mistakes, paths
from grader.records.results import FAILED, PASSED, CheckResult, ExerciseResult
from grader.reports import html, templating

EVIL = "<img src=http://example.com/x onerror=alert(1)>"
UNFOLD = "document.querySelectorAll('details').forEach(one => one.open = true)"
HOSTILE = f'''
import torch

def attention_weights(inputs):
    raise ValueError("{EVIL}\\u202e\\x1b[31m")

def context_vector(inputs, query_index):
    print("{EVIL}")
    return inputs[0]

def context_vectors(inputs):
    return inputs
'''


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout whose learner has passed one exercise, errs in three, and has not begun the others."""
    root = tmp_path_factory.mktemp("checkout")
    copy(root, "grader", "exercises", "solutions")

    def hand_in(number: str, text: str) -> None:
        stub = paths.stub(catalog.find(number).folder).relative_to(paths.ROOT)
        (root / stub).write_text(text, "utf-8")

    def solution(pattern: str) -> str:
        (found,) = paths.SOLUTIONS.glob(pattern)
        return found.read_text("utf-8")

    hand_in("01", solution("01_*/*.py"))
    hand_in("02", "def broken(:\n")
    hand_in("03", HOSTILE)
    hand_in("06", mistakes.find(catalog.find("06").folder, "scaling_left_out").source)
    return root


@pytest.fixture(scope="module")
def report(checkout):
    """report.html, as `make report` writes it."""
    command = [sys.executable, "-m", "grader", "report"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "report.html is written" in done.stdout
    return checkout / "report.html"


@pytest.fixture
def opened(tab, report):
    """`opened(width=…, height=…, scheme=…)`: the report, loaded anew."""

    def open_it(**screen):
        page = tab.load(report, **screen)
        assert tab.complaints == []
        return page

    return open_it


def test_it_tells_every_state(report, checkout):
    text = report.read_text("utf-8")
    assert len(re.findall(r'<section id="exercise-\d\d"', text)) == len(list((checkout / "exercises").iterdir()))
    assert "your code" not in re.findall(r"<h3.*?</h3>", text)
    section = {number: text.split(f'id="exercise-{number}"')[1].split("</section>")[0] for number in ("01", "02", "04")}
    assert "passed" in section["01"] and "<svg" in section["01"]
    assert "not valid Python" in section["02"] or "SyntaxError" in section["02"]
    assert "not started" in section["04"] and "<svg" not in section["04"]
    assert "likely: " in text.split('id="exercise-06"')[1]
    links = set(re.findall(r'href="([^#"]+)"', text))
    assert "report-lessons/04_token_embeddings.html" in links and not any(link.endswith(".md") for link in links)
    for link in links:
        lesson = (checkout / link).read_text("utf-8")
        assert "<h2>" in lesson and ' style="' not in lesson and ".md" not in re.findall(r'href="([^"]+)"', lesson)
    hints = (checkout / "exercises/04_token_embeddings/hints.md").read_text("utf-8")
    of = len(re.findall(r"^\d+\. ", hints, re.M))
    assert f"{of} of {of} hints left" in section["04"]


def test_what_is_not_started_is_folded(report):
    text = report.read_text("utf-8")
    folded = text.split("<summary>Not started yet: ")[1]
    assert 'id="exercise-04"' in folded and 'id="exercise-02"' not in folded and 'id="exercise-06"' not in folded
    assert int(folded.split()[0]) == folded.count('<section id="exercise-')


def test_what_checks_have_in_common_is_read_once():
    """The message and the diagnosis of a second check are named as those above; another message is shown whole."""
    result = result_of(catalog.find("03").folder, 0.0)
    one, two, three, *_ = (
        replace(check, outcome=FAILED, message="TypeError: no\nline 16", diagnosis="A column is taken.")
        for check in result.checks
    )
    three = replace(three, message="another one", diagnosis="A row is taken.")
    passed = [replace(check, outcome=PASSED, message="", diagnosis="") for check in result.checks[3:5]]
    text = html.verdict(replace(result, checks=(one, replace(two, diagnosis=""), three, *passed)))
    assert "same mistake as above" not in text and text.count("as above") == 1
    text = html.verdict(replace(result, checks=(one, two, three)))
    assert text.count("line 16") == text.count("A column is taken.") == 1
    assert "TypeError: no (as above)" in text and "the same mistake as above" in text
    assert "another one" in text and "A row is taken." in text


def test_a_learners_text_is_only_text(report):
    text = report.read_text("utf-8")
    assert EVIL not in text and str(templating.escape(EVIL)) in text
    assert "\u202e" not in text and "\x1b" not in text


def test_the_next_report_grades_what_changed_alone(report, checkout, said, monkeypatch):
    """In this process, which works in the checkout."""
    for name in ("EXERCISES", "SOLUTIONS", "PROGRESS", "PROGRESS_LOCK", "LAST_RESULTS"):
        monkeypatch.setattr(paths, name, checkout / getattr(paths, name).relative_to(paths.ROOT))
    stub = paths.stub(catalog.find("04").folder)
    os.utime(stub)
    done = said("report", "--output", "again.html", cwd=checkout)
    assert done.returncode == 0
    assert re.findall(r"grading (\S+)", done.stderr) == [stub.parent.name]
    os.utime(stub)
    missing = said("report", "--output", "no/such/folder.html", cwd=checkout)
    assert missing.returncode == 2 and "cannot be written" in missing.stderr
    assert "grading" not in missing.stderr


def test_no_request_leaves_it(opened, tab, report):
    page = opened()
    page.evaluate(UNFOLD)
    page.wait_for_load_state("networkidle")
    assert tab.requests == [report.as_uri()] and tab.complaints == []
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert "default-src 'none'" in policy
    blocked = "fetch('http://127.0.0.1:9/').then(() => false, () => true)"
    assert page.evaluate(blocked)
    assert tab.requests == [report.as_uri()]  # the policy stops it before it is one


def test_a_phone_reads_it_without_sideways_scrolling(opened):
    page = opened(width=360, height=740)
    page.evaluate(UNFOLD)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    widest = "Math.max(...[...document.querySelectorAll('svg')].map(one => one.getBoundingClientRect().right))"
    assert page.evaluate(widest) <= 360


def test_on_a_phone_the_table_becomes_cards(opened):
    page = opened(width=390, height=844)
    table = page.get_by_role("region", name="Table of all exercises")
    assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
    card = page.get_by_role("row", name=re.compile("06 "))  # to a screen reader it is the table that it was
    assert card.get_by_role("cell").count() == 6
    points = card.locator('[data-column="Points"]')
    assert points.evaluate("one => getComputedStyle(one, '::before').content") == '"Points"'
    places = [one.bounding_box() for one in card.locator("td").all()]
    assert len({place["x"] for place in places}) == 1 and len({place["y"] for place in places}) == 6
    assert page.locator(".cards thead").evaluate("one => one.getBoundingClientRect().width") <= 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_lesson_beside_the_report_has_its_pictures_and_fits_a_phone(tab, report, scheme):
    for folder in ("03_context_vectors", "13_multi_head_attention", "16_rotary_embedding"):
        page = tab.load(report.parent / "report-lessons" / f"{folder}.html", 390, 844, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        sizes = page.evaluate("[...document.images].map(one => [one.naturalWidth, one.alt.length])")
        assert len(sizes) == 1 and min(sizes[0]) > 30 and tab.complaints == []
        assert page.evaluate("document.images[0].width") >= 500  # its words can be read, and it scrolls in its own box
        folded = page.locator("details").first
        assert folded.locator("summary").is_visible() and not folded.locator("pre, p").first.is_visible()
        assert not re.search("[\ue000\ue001]|<details>", page.locator("article").inner_text())
        page.evaluate(UNFOLD)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert [one for one in page.evaluate(CONTRASTS) if one["ratio"] < 4.5] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast(opened, scheme):
    page = opened(scheme=scheme)
    page.evaluate(UNFOLD)
    found = page.evaluate(CONTRASTS)
    assert len(found) > 500
    assert [one for one in found if one["ratio"] < 4.5] == []
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (dark == "rgb(255, 255, 255)") == (scheme == "light")


def test_keys_alone_lead_through_it(opened):
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")  # the table, which scrolls
    assert page.evaluate("document.activeElement.getAttribute('role')") == "region"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#exercise-00"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#exercise-00"  # page.url hears of it later
    summary = "document.querySelector('#exercise-01 > details > summary')"
    page.evaluate(f"{summary}.focus()")
    before = page.evaluate(f"{summary}.parentElement.open")
    page.keyboard.press("Enter")
    assert page.evaluate(f"{summary}.parentElement.open") is not before


def test_a_screen_reader_finds_names_and_order(opened):
    page = opened()
    page.evaluate(UNFOLD)
    for role in ("banner", "main", "contentinfo"):
        assert page.get_by_role(role).count() == 1
    assert page.get_by_role("heading", level=1).count() == 1
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(one => +one.tagName[1])")
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    images = page.get_by_role("img")
    names = [images.nth(i).get_attribute("aria-label") for i in range(images.count())]
    assert names and all(names)
    assert page.locator("svg").count() == page.locator("svg > desc").count() == len(names)
    assert page.locator("table").count() == page.locator("table > caption").count()
    assert page.locator("th:not([scope])").count() == 0
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))
    links = page.evaluate("[...document.querySelectorAll('a, button, summary')].map(one => one.textContent.trim())")
    assert all(links)
    assert page.evaluate("document.documentElement.lang") == "en"


CHECKS = (
    CheckResult("right", "Right & good.", "passed", 1, 1),
    CheckResult("wrong", "Wrong.", "failed", 0, 2, "the message <b>", "the diagnosis", lines=(7,), where="the line"),
    CheckResult("later", "Later.", "not_checked", 0, 1, "not checked: first fix “Wrong.”"),
)
RESULT = ExerciseResult("03_x", "Title", "a<b>.py", "cpu", 7, "failed", 0.1, CHECKS, output="<i>printed</i>")


@pytest.mark.parametrize(
    ("level", "told"),
    [
        ("where", {"the line", "the message", "the diagnosis", "Wrong.", "printed", "1 of 4 points"}),
        ("full", {"the message", "the diagnosis", "Wrong.", "printed", "1 of 4 points"}),
        ("hints", {"the diagnosis", "Wrong.", "1 of 4 points"}),
        ("names", {"Wrong.", "1 of 4 points"}),
        ("none", {"1 of 4 points"}),
    ],
)
def test_a_level_tells_so_much_and_no_more(level, told):
    text = html.verdict(RESULT, level)
    everything = {"the line", "the message", "the diagnosis", "Wrong.", "printed", "1 of 4 points"}
    assert {word for word in everything if word in text} == told
    assert "<b>" not in text and "<i>" not in text


def test_what_keeps_several_checks_from_running_is_read_once():
    """Two checks wait for one, and a third counts in part: each has its title, and each reason is read once."""
    more = (replace(CHECKS[2], id="last", title="Last."), replace(CHECKS[2], id="part", message="checked in part"))
    text = html.verdict(replace(RESULT, checks=CHECKS + more))
    assert text.count("first fix") == text.count("checked in part") == 1
    assert text.count("Later.") == 2 and text.count("Last.") == 1
    assert text.index("the message") < text.index("first fix")


def test_an_outcome_is_a_sign_and_a_word():
    text = html.verdict(RESULT)
    for sign, word in (("✔", "passed"), ("✘", "failed"), ("–", "not checked")):
        assert re.search(rf'aria-hidden="true">{sign}</span> {word}</span>', text)


def test_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match="where, full, hints, names, none"):
        html.verdict(RESULT, "everything")


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
