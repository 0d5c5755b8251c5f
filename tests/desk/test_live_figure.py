"""The figure that `make figure` serves: the learner's own numbers in a browser, again after each save."""

import http.client
import re
import sys

import pytest
from at_terminal import AtTerminal, checkout
from browser import browser

from grader import catalog
from grader.integrations import lesson_page
from grader.integrations.notebook import display
from grader.judge import capture

EXERCISE = "06_scaled_dot_product_attention"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The address that make figure prints, and the learner's file."""
    root = checkout(tmp_path_factory.mktemp("desk"))
    file = root / "exercises" / EXERCISE / f"{EXERCISE[3:]}.py"
    right = (root / "solutions" / EXERCISE / f"{EXERCISE[3:]}.py").read_text("utf-8")
    file.write_text(right.replace(" / keys.shape[-1] ** 0.5", "", 1), "utf-8")
    terminal = AtTerminal([sys.executable, "-m", "grader", "figure", "06"], root, columns=200)
    try:
        terminal.says("Ctrl-C ends it.")
        yield re.search(r"http://127\.0\.0\.1:\d+/\S+/", terminal.transcript)[0], file, right
        terminal.type("\x03")
        assert terminal.ends() == 130
    finally:
        terminal.close()


def test_the_page_shows_the_learners_numbers_again_after_a_save(served):
    address, file, right = served
    with browser() as chromium:
        page = chromium.new_page()
        troubles = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(address)
        mine = page.locator(".kata-mine")
        first = mine.locator("table[data-name=yours]").first
        first.wait_for()
        assert mine.locator("table[data-name=yours]").count() == mine.locator("table[data-name=expected]").count() == 2
        expected = mine.locator("table[data-name=expected]").first.inner_text()
        assert first.inner_text() != expected.replace("expected", "yours")
        file.write_text(right, "utf-8")
        page.wait_for_function(
            """wanted => document.querySelector('table[data-name=yours]')?.innerText === wanted""",
            arg=expected.replace("expected", "yours"),
        )
        file.write_text("def (", "utf-8")
        page.wait_for_function("!document.querySelector('table[data-name=yours]')")
        assert "SyntaxError" in mine.inner_text()
        file.unlink()  # some editors remove a file for a moment when they save it
        page.wait_for_function("document.querySelector('.kata-mine').innerText.includes('There is no file')")
        file.write_text(right, "utf-8")
        page.locator("table[data-name=yours]").first.wait_for()
        assert troubles == []


@pytest.mark.parametrize("exercise", catalog.exercises(), ids=lambda exercise: exercise.folder)
def test_the_page_promises_numbers_only_where_some_come(exercise):
    answer = display.matrices(exercise, capture.blank(exercise, "not written yet"))
    assert ("your numbers appear" in lesson_page._live_page(exercise)) is ("pictures" in answer)


@pytest.mark.parametrize(
    ("path", "host", "code"),
    [
        ("{secret}", "127.0.0.1:{port}", 200),
        ("wrong", "127.0.0.1:{port}", 404),
        ("", "127.0.0.1:{port}", 404),
        ("{secret}", "elsewhere.example:{port}", 404),  # a page of somebody else's whose name leads to this machine
        ("{secret}/../../pyproject.toml", "127.0.0.1:{port}", 404),
    ],
)
def test_only_who_knows_the_address_is_answered(served, path, host, code):
    _, _, place, secret, _ = served[0].split("/")
    port = place.partition(":")[2]
    connection = http.client.HTTPConnection("127.0.0.1", int(port))
    target = f"/{path.format(secret=secret)}/"
    connection.request("GET", target, headers={"Host": host.format(port=port)})
    assert connection.getresponse().status == code
    connection.close()
