"""Notebooks: what is made, what is gathered from a kernel, and real ones run in a real kernel and a real browser."""

import ast
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from browser import browser
from copies import copy
from filled_notebook import fill
from thorough import nightly, sample

from grader import catalog
from grader.catalog import paths
from grader.desk.checkout import source as fresh_stub
from grader.desk.lesson import examples
from grader.integrations import figures
from grader.integrations.notebook import GradingProcess, collect, export

pytestmark = pytest.mark.slow

# What is gathered.


def gather(*cells: str):
    """The f of the source that is gathered from these cells, in the order in which they were run."""
    namespace: dict = {}
    exec(compile(collect.source(["", *cells], ["f"]), "gathered", "exec"), namespace)
    return namespace["f"]


def test_the_definition_that_was_run_last_counts():
    cells = ["def f(x):\n    return 1", "f(3)", "def f(x):\n    return 2", "f(4)"]
    assert gather(*cells)(0) == 2
    assert gather(*cells, cells[0])(0) == 1  # run again, out of order


def test_what_it_builds_on_comes_along_in_its_newest_form():
    helper = "FACTOR = 2\ndef helper(x):\n    return x * FACTOR"
    user = "def f(x):\n    return helper(math.floor(x))"
    assert gather("import math", helper, user, "FACTOR = 10")(1.5) == 10


def test_experiments_stay_outside():
    """Each of them would end the file."""
    first = "def f(x):\n    weights = x\n    return [x for x in range(3)] and weights"
    assert gather("x = open('/no/such/file')", first, "weights = f(launch())", "raise SystemExit")(7) == 7


def test_a_class_that_extends_itself_and_a_method_put_in_later():
    one, two = "class f:\n    def one(self):\n        return 1", "class f(f):\n    def two(self):\n        return 2"
    three = "def three(self):\n    return self.one() + self.two()\nf.three = three"
    assert gather(one, two, three)().three() == 3
    # the base as it was then, although its name has a new meaning now
    assert gather("class Base:\n    a = 1", "class f(Base):\n    pass", "class Base:\n    a = 2").a == 1
    # a new definition forgets what was put into the old one
    assert not hasattr(gather("def f(x):\n    return 1", "f.note = 5", "def f(x):\n    return 2"), "note")


def test_magics_broken_cells_and_star_imports():
    written = "%%time\ndef f(x):\n    return floor(x)"
    others = ("def f(x:\n    return 3", "!ls; pwd", "%%bash\ndef f(x): return 5", "f?")
    assert gather("%matplotlib inline\nfrom math import *", written, *others)(2.5) == 2


def test_a_solution_run_cell_by_cell_is_gathered_whole():
    for exercise in catalog.exercises():
        source = paths.solution(exercise.folder).read_text("utf-8")
        cells = ["", *(ast.unparse(node) for node in ast.parse(source).body)]
        gathered = collect.source(cells, collect.defined(fresh_stub(exercise.folder)))
        kept = [ast.dump(node) for node in ast.parse(gathered).body]
        assert kept == [ast.dump(node) for node in ast.parse(source).body[1:]]  # all but the docstring


# What is made.


@pytest.fixture
def checkout(tmp_path_factory):
    """Each test's own: the progress of one is not the other's, in whichever order they run."""
    folder = tmp_path_factory.mktemp("checkout")
    return copy(folder, "grader", "exercises", "solutions", without=("*.ipynb",))


@pytest.fixture
def made(checkout, cli):
    """Makes the notebook of an exercise in the checkout. Gives its path."""

    def make(number: str) -> Path:
        done = cli("notebook", number, cwd=checkout)
        assert done.returncode == 0 and "is made" in done.stdout, done.stderr
        return checkout / paths.notebook(catalog.find(number).folder).relative_to(paths.ROOT)

    return make


def test_every_exercise_becomes_a_notebook_with_all_its_lesson_and_stub():
    jupytext = pytest.importorskip("jupytext", reason="jupytext is not installed (extra notebook)")
    import nbformat

    for exercise in sample(catalog.exercises(), 12):
        notebook = jupytext.reads(export.percent(exercise), fmt="py:percent")
        nbformat.validate(notebook)
        code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        assert code[-1].startswith("check()") and "setup()" in code[0]
        stub = fresh_stub(exercise.folder)
        for name in collect.defined(stub):
            (holder,) = [cell for cell in code if name in collect.defined(cell)]
            assert "raise NotImplementedError" in holder or "# given" in holder
        assert not any("SOLUTION" in cell for cell in code)
        text = "\n".join(cell.source for cell in notebook.cells)
        folded = "".join(re.findall(r"<details>.*?</details>", text, re.S))
        for example in examples(exercise.folder):  # a cell that can be run, behind the code that it calls
            if example.code in folded:
                continue
            (cell, *_) = [cell for cell in notebook.cells if "tags" in cell.metadata and example.code in cell.source]
            assert cell.metadata["tags"] == ["raises-exception"]
            called = [name for name in collect.defined(stub) if re.search(rf"\b{name}\(", example.code)]
            holders = [code.index(holder) for name in called for holder in code if name in collect.defined(holder)]
            assert max(holders, default=0) < code.index(cell.source)
        for cell in notebook.cells:
            assert cell.source.count("<details>") == cell.source.count("</details>"), cell.source
        assert text.count("<details>") >= text.count("[common promises]") > 0
        lesson = export.lesson_for_notebook(paths.lesson(exercise.folder).read_text("utf-8"), exercise.slug)
        lines = [line for line in lesson.splitlines() if line.strip()]
        assert [line for line in lines if line.rstrip() not in text and not line.startswith("```")] == []


def test_its_words_name_no_command_and_no_file_to_write_in_and_the_figure_is_at_the_top():
    pytest.importorskip("jupytext", reason="jupytext is not installed (extra notebook)")
    for exercise in catalog.exercises():
        cells = export.percent(exercise).split("\n\n# %%")
        has_figure = paths.figure_script(exercise.folder).exists()
        assert cells[2].startswith(" [markdown]\n# # ") and ("figure()" in cells[3]) == has_figure
        text = "\n".join(cell for cell in cells if "[markdown]" in cell.partition("\n")[0])
        assert f"{exercise.slug}.py" not in text and "experiment.py" not in text
        outside_of_code = "".join(text.split("```")[::2])
        assert re.findall(r"`make [a-z]+[^`]*`(?! \(in a terminal\))", outside_of_code) == []
        assert "`make try" not in text and "`experiment()`" in text


def test_a_notebook_that_was_worked_in_is_never_overwritten(desk):
    pytest.importorskip("jupytext", reason="jupytext is not installed (extra notebook)")
    exercise = catalog.find("02")
    path = paths.notebook(exercise.folder)
    assert export.make(exercise) == (path, export.MADE)
    fresh_one = path.read_bytes()
    assert export.make(exercise) == (path, export.MADE)  # untouched: the newest lesson may take its place
    assert path.read_bytes() == fresh_one
    for change in (
        lambda cells: cells[-2].update(source="mine"),
        lambda cells: cells.pop(),
        lambda cells: cells[-1].update(execution_count=1),
    ):
        edited = json.loads(fresh_one)
        change(edited["cells"])
        path.write_text(json.dumps(edited), "utf-8")
        before = path.read_bytes()
        assert export.make(exercise) == (path, export.KEPT)
        assert path.read_bytes() == before
    path.write_text("no notebook at all", "utf-8")
    assert export.make(exercise) == (path, export.KEPT)
    assert path.read_text("utf-8") == "no notebook at all"


def test_the_process_that_grades_stays_and_is_replaced_when_it_is_gone(checkout, relocate):
    relocate(checkout, "ROOT")  # the process works there, so it notes no progress here
    exercise, process = catalog.find("03"), GradingProcess()
    right = paths.solution(exercise.folder).read_text("utf-8")
    hangs = right.replace("    return", "    while True: pass\n    return")

    def said_of(source: str) -> str:
        request = {"what": "check", "exercise": exercise.folder, "source": source, "name": "your notebook", "seed": 1}
        return process.ask(request)["text"]

    def interrupt(*_: object) -> None:
        asked.append(process.process)
        raise KeyboardInterrupt

    assert "7 of 7 points" in said_of(right)
    first = process.process
    assert "7 of 7 points" not in said_of(right.replace("    return", "    unfinished\n    return"))
    assert process.process is first
    first.stdin.close()  # the kernel ends, and the process with it
    assert first.wait(timeout=30) == 0
    asked, before = [], signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)  # it is still importing torch
        with pytest.raises(KeyboardInterrupt):
            said_of(hangs)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert process.process is None  # so that no late answer is taken for that of the next question
    assert asked[0] is not first and asked[0].poll() is not None


# Real kernels.


def html_of(cell) -> str:
    return "".join(out["data"].get("text/html", "") for out in cell.outputs if "data" in out)


EXPERIMENT = '''"""Is each more than the last?"""  # changed by a learner, to one that needs no torch
CLAIM = "It is."
def measure(): return [{"n": 1}, {"n": 2}, {"n": 3}]
def claim(rows): return rows[0]["n"] < rows[1]["n"] < rows[2]["n"]
'''


def test_a_notebook_is_graded_as_it_was_run(checkout, made):
    pytest.importorskip("jupytext", reason="jupytext is not installed (extra notebook)")
    import nbformat
    from nbformat.v4 import new_code_cell

    path = made("03")
    path.with_name("experiment.py").write_text(EXPERIMENT)
    (solution,) = (checkout / "solutions").glob("03_*/context_vectors.py")
    notebook = fill(nbformat.read(path, as_version=4), solution.read_text("utf-8"))
    wrong = "def attention_weights(inputs):\n    print('<script>')\n    return inputs @ inputs.T"
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    right = next(source for source in code if "attention_weights" in collect.defined(source))
    notebook.cells += [
        new_code_cell(wrong),
        new_code_cell("check(seed=7)"),
        new_code_cell("plot()"),
        new_code_cell(right),  # as if the first cell had been run again
        new_code_cell('check("03", seed=7)'),
        new_code_cell('hint("3")'),  # all is passed by now
        new_code_cell('hint("3", task=3)'),
        new_code_cell('check("nonsense")'),
        new_code_cell('mine = figure("03")\nmine'),
        new_code_cell("mine.asked += 1\nprint([one['difference'] for one in mine.mine['pictures']])"),
        new_code_cell('figure("nonsense")'),
    ]
    pytest.importorskip("anywidget", reason="anywidget is not installed (extra notebook)")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (extra notebook)")
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    *notebook.cells, drawn, asked, no_figure = notebook.cells
    (measured,) = [cell for cell in notebook.cells if cell.source == "experiment()"]
    assert "measured: holds" in measured.outputs[0]["data"]["text/plain"] and html_of(measured).count("<tr") == 4
    assert "application/vnd.jupyter.widget-view+json" in drawn.outputs[0]["data"]
    states = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    assert figures.widget(path.parent.name) in [state["state"].get("_esm") for state in states]
    assert [float(far) < 1e-4 for far in ast.literal_eval(asked.outputs[0]["text"])] == [True]  # half a printed digit
    assert "No exercise is called" in no_figure.outputs[0]["data"]["text/plain"]
    first = notebook.cells[-9]
    broken, picture, _, again, hint, other, nonsense = notebook.cells[-7:]
    assert "7 of 7 points" in html_of(first) and "<svg" in html_of(first)
    for form in first.outputs[0]["data"].values():
        assert "You can now " in form and "make " not in form.replace("make it", "")
    assert "failed" in html_of(broken) and 'class="sentence"' in html_of(broken) and "<svg" in html_of(broken)
    assert "your notebook, cell" in html_of(broken)
    assert "&lt;script&gt;" in html_of(broken) and "<script" not in html_of(broken)
    assert "Largest difference" in html_of(picture)
    assert "7 of 7 points" in html_of(again)
    assert "Every task is done" in hint.outputs[0]["data"]["text/plain"]
    assert "Task 3, hint 1 of 3" in other.outputs[0]["data"]["text/plain"]
    assert "No exercise is called" in nonsense.outputs[0]["data"]["text/plain"]
    state = json.loads((checkout / ".kata-progress.json").read_text("utf-8"))["exercises"]["03_context_vectors"]
    assert state["first_pass"] and state["attempts"] == 3


SETTINGS = {
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},  # every cell is there
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {"fetchNews": "false"},
}


@contextlib.contextmanager
def jupyterlab(folder):
    """A running JupyterLab; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1"]
    words += ["--IdentityProvider.token=", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}"]
    home = folder / "jupyter"
    places = {f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **places, "HOME": str(home), "JUPYTERLAB_SETTINGS_DIR": str(home / "settings")}
    for name, setting in SETTINGS.items():
        (home / "settings" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "settings" / name).write_text(json.dumps(setting), "utf-8")
    server = subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 90
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5)
                break
            except OSError:
                assert server.poll() is None and time.monotonic() < until, "JupyterLab did not start"
                time.sleep(0.3)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


@nightly
def test_in_a_real_jupyterlab(checkout, made):
    """Open the made notebook, run all its cells, and read the verdict where a learner reads it."""
    for name in ("jupyterlab", "jupytext"):
        pytest.importorskip(name, reason=f"{name} is not installed (extra notebook)")
    path = made("06")
    with browser() as chromium, jupyterlab(checkout) as address:
        tab = chromium.new_page()
        tab.goto(f"{address}/lab/tree/{path.relative_to(checkout).as_posix()}")
        tab.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=90_000)
        tab.get_by_role("menuitem", name="Run", exact=True).click()
        tab.get_by_text("Run All Cells", exact=True).click()
        shown = tab.locator(".jp-CodeCell", has_text="check(").last.locator(".kata")
        shown.wait_for(timeout=120_000)
        assert "not started" in shown.inner_text()
        # The learner edits a cell, runs it and the last one, and saves nothing.
        cell = tab.locator(".jp-CodeCell", has_text="def scaled_attention_weights").locator(".cm-content")
        cell.click()
        tab.keyboard.press("Control+a")
        tab.keyboard.insert_text(
            "def scaled_attention_weights(query, keys):\n    return torch.softmax(query @ keys.mT, -1)"
        )
        tab.keyboard.press("Control+Enter")
        tab.locator(".jp-CodeCell", has_text="check(").last.locator(".cm-content").click()
        tab.keyboard.press("Control+Enter")
        picture = shown.locator("figure svg").first
        picture.wait_for(timeout=120_000)
        text = shown.inner_text()
        assert "The scores are not divided" in text
        assert picture.bounding_box()["width"] > 100
        colour = shown.locator(".failed").first.evaluate("one => getComputedStyle(one).color")
        assert colour == "rgb(171, 29, 23)"  # our style is in force
        # The figure, and the learner's own matrices in it.
        tab.locator(".jp-CodeCell", has_text="check(").last.locator(".cm-content").click()
        tab.keyboard.press("Control+a")
        tab.keyboard.insert_text('from grader.notebook import figure\n\nfigure("06")')
        tab.keyboard.press("Control+Enter")
        figure = tab.locator(".kata-figure").first
        figure.get_by_label("d_k", exact=True).wait_for(timeout=120_000)
        assert "16.9947" in figure.inner_text()
        figure.get_by_role("button", name="Use mine").click()
        figure.locator('table[data-name="yours"]').first.wait_for(timeout=120_000)
        assert "The largest difference is 0." in figure.inner_text()
