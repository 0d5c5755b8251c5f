"""formgrader: autograde, scores, feedback, a comment by hand. At night in a real Jupyter server and a real browser.

THOROUGH=1 SCREENSHOT=docs/formgrader.png python -m pytest tests/nbgrader/test_formgrader.py    makes the docs' picture
"""

import contextlib
import html
import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from a_course import FOLDER, cell, environment
from browser import browser
from extras import needed
from thorough import nightly

needed("nbgrader", "classroom")

WRONG = "attention_weights(inputs) @", "attention_weights(inputs).T @"
LIKELY = "context_vectors uses the weights by column: row i of the weights belongs to token i."
COMMENT = "Whose weights are in a column?"


@contextlib.contextmanager
def jupyter(course, home):
    """A server in the course's folder; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--ServerApp.port={port}"]
    command += ["--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}"]
    command += ["--IdentityProvider.token=", "--ServerApp.password=", f"--ServerApp.root_dir={course.root}"]
    variables = environment() | {"HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config")}
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=course.root, env=variables, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 90
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/formgrader/api/status", timeout=10).close()
                break
            assert server.poll() is None and time.monotonic() < deadline, (home / "log").read_text()
            time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.fixture
def page():
    with browser() as chromium:
        page = chromium.new_page(viewport={"width": 1100, "height": 1500})
        page.set_default_timeout(120_000)
        page.route(lambda url: "127.0.0.1" not in url, lambda route: route.abort())  # fonts and formulas of the net
        yield page


@pytest.fixture
def handed_in(classroom):
    """The course with one submission, which is wrong in the last task."""
    notebook = classroom.solved()
    code = cell(notebook, "write_context_vectors")
    code.source = code.source.replace(*WRONG)
    classroom.submit("ada", notebook, "2026-01-01 10:00:00 UTC")
    return classroom


def test_what_formgrader_calls(handed_in, monkeypatch):
    """Its buttons and its page by the functions behind them, without a server and a browser."""
    import tornado.web
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension

    monkeypatch.chdir(handed_in.root)
    monkeypatch.setenv("PATH", environment()["PATH"])
    monkeypatch.setenv("JUPYTER_NO_CONFIG", "1")
    formgrader = FormgradeExtension()
    formgrader.root_dir = str(handed_in.root)
    formgrader.initialize([])
    api = NbGraderAPI(formgrader.coursedir, parent=formgrader)
    (before,) = api.get_submissions(FOLDER)
    assert before["needs_manual_grade"] is False and before["autograded"] is False
    done = api.autograde(FOLDER, "ada")
    assert done["success"], done
    (after,) = api.get_submissions(FOLDER)
    assert (after["autograded"], after["score"], after["max_score"]) == (True, 3.5, 7.0)

    application = tornado.web.Application(base_url="/")
    formgrader.init_tornado_settings(application)
    place = handed_in.root / "autograded" / "ada" / FOLDER / f"{FOLDER}.ipynb"
    about = {"assignment_id": FOLDER, "notebook_id": FOLDER, "submission_id": after["id"], "base_url": "", "index": 0}
    about |= {"total": 1, "student": "ada", "last_name": None, "first_name": None, "notebook_path": place.name}
    shown, _ = application.settings["nbgrader_exporter"].from_filename(str(place), resources=about)
    assert 'id="task_3"' in shown and 'id="write_context_vectors-comment"' in shown
    assert "The context vectors of all six tokens are the printed ones." in shown and LIKELY in html.unescape(shown)

    with handed_in.gradebook() as book:
        book.find_comment("write_context_vectors", FOLDER, FOLDER, "ada").manual_comment = COMMENT
        book.db.commit()
    done = api.generate_feedback(FOLDER, "ada")
    assert done["success"], done
    told(handed_in)


@nightly
def test_grading_in_the_browser(handed_in, page, tmp_path):
    """A real server and a real browser: the pages fetch and show what `test_what_formgrader_calls` looks at."""
    home = tmp_path / "home"
    home.mkdir()
    with jupyter(handed_in, home) as address:
        # The assignment, and its one submission, which waits for the autograder.
        page.goto(f"{address}/formgrader/manage_assignments", wait_until="domcontentloaded")
        page.click(f"a[href$='manage_submissions/{FOLDER}']")
        page.wait_for_selector("td.status >> text=needs autograding")
        page.click("td.autograde a")
        page.wait_for_selector(f"text=Successfully autograded '{FOLDER}' for student 'ada'")
        page.click(".modal.in button:has-text('OK'), .modal.in button.close")
        page.wait_for_selector("td.status >> text=graded")
        assert page.inner_text("td.score").startswith("3.5 / 7")

        # The notebook: score and feedback below the grade cell, then a comment by hand.
        page.goto(f"{address}/formgrader/gradebook/{FOLDER}/{FOLDER}", wait_until="domcontentloaded")
        page.click("td.name a, a[href*='/formgrader/submissions/']")
        page.wait_for_selector("#task_3")
        page.wait_for_function("document.querySelector('#task_1').placeholder == '2.5'")
        assert page.get_attribute("#task_3", "placeholder") == "0"
        shown = page.inner_text("body")
        assert "✘ The context vectors of all six tokens are the printed ones." in shown
        assert f"likely: {LIKELY}" in shown
        # Formgrader fetches the comments after the grades; a box listens once it has said what it is for.
        page.wait_for_function("document.querySelector('#write_context_vectors-comment').placeholder.length > 20")
        page.fill("#write_context_vectors-comment", COMMENT)
        with page.expect_response(lambda answer: "/api/comment/" in answer.url) as saved:
            page.dispatch_event("#write_context_vectors-comment", "change")
        assert saved.value.ok, saved.value.text()
        comment = wait_for_comment(handed_in)
        assert comment == COMMENT
        if os.environ.get("SCREENSHOT"):
            page.evaluate("document.querySelector('#write_context_vectors-comment').scrollIntoView({block: 'start'})")
            page.evaluate("window.scrollBy(0, -420)")
            page.screenshot(path=os.environ["SCREENSHOT"])

        # The feedback that the student gets.
        page.goto(f"{address}/formgrader/manage_submissions/{FOLDER}", wait_until="domcontentloaded")
        page.click("td.generate-feedback a")
        page.wait_for_selector(f"text=Successfully generated feedback for '{FOLDER}' for student 'ada'")
    told(handed_in)


def told(course) -> None:
    """The feedback that the student gets has the cause and the comment."""
    page = (course.root / "feedback" / "ada" / FOLDER / f"{FOLDER}.html").read_text("utf-8")
    assert COMMENT in page and LIKELY in page


def wait_for_comment(course) -> str | None:
    """The comment in the gradebook, once formgrader has saved it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with course.gradebook() as book:
            saved = book.find_comment("write_context_vectors", FOLDER, FOLDER, "ada").manual_comment
        if saved:
            return saved
        time.sleep(0.2)
    return None
