"""formgrader in a real Jupyter server and a real browser: autograde, scores, feedback.

SCREENSHOT=docs/formgrader.png python -m pytest tests/nbgrader/test_formgrader.py    makes the picture of the docs
"""

import contextlib
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


@nightly
def test_grading_in_the_browser(classroom, page, tmp_path):
    notebook = classroom.solved()
    code = cell(notebook, "write_context_vectors")
    code.source = code.source.replace(*WRONG)
    classroom.submit("ada", notebook, "2026-01-01 10:00:00 UTC")
    home = tmp_path / "home"
    home.mkdir()
    with jupyter(classroom, home) as address:
        # The assignment, and its one submission, which waits for the autograder.
        page.goto(f"{address}/formgrader/manage_assignments", wait_until="domcontentloaded")
        page.click(f"a[href$='manage_submissions/{FOLDER}']")
        page.wait_for_selector("td.status >> text=needs autograding")
        page.click("td.autograde a")
        page.wait_for_selector(f"text=Successfully autograded '{FOLDER}' for student 'ada'")
        page.click(".modal.in button:has-text('OK'), .modal.in button.close")
        page.wait_for_selector("td.status >> text=graded")
        assert page.inner_text("td.score").startswith("4.83 / 7")

        # The notebook: score and feedback below the grade cell.
        page.goto(f"{address}/formgrader/gradebook/{FOLDER}/{FOLDER}", wait_until="domcontentloaded")
        page.click("td.name a, a[href*='/formgrader/submissions/']")
        page.wait_for_selector("#task_3")
        page.wait_for_function("document.querySelector('#task_1').placeholder == '2.5'")
        assert page.get_attribute("#task_3", "placeholder").startswith("1.33")
        shown = page.inner_text("body")
        assert "✘ The context vectors of all six tokens match the printed numbers." in shown
        assert LIKELY in shown
        if os.environ.get("SCREENSHOT"):
            page.evaluate("document.querySelector('#task_3').scrollIntoView({block: 'start'})")
            page.evaluate("window.scrollBy(0, -420)")
            page.screenshot(path=os.environ["SCREENSHOT"])

        # The feedback that the student gets.
        page.goto(f"{address}/formgrader/manage_submissions/{FOLDER}", wait_until="domcontentloaded")
        page.click("td.generate-feedback a")
        page.wait_for_selector(f"text=Successfully generated feedback for '{FOLDER}' for student 'ada'")
    told = (classroom.root / "feedback" / "ada" / FOLDER / f"{FOLDER}.html").read_text("utf-8")
    assert LIKELY in told
