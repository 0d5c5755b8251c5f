"""In a notebook: `from grader.notebook import check, experiment, figure, hint, plot`, then `check()`.

The kernel only collects the code that was run, and shows the answer. A separate process grades, so that the notebook
cannot change the grader's code; as everywhere, the learner's code runs in a sandboxed worker.
"""

import ast
import contextlib
import secrets
from pathlib import Path
from typing import Any

from grader import catalog
from grader.catalog.errors import InfrastructureError, WrongUse
from grader.desk import checkout, progress
from grader.integrations.notebook import collect
from grader.integrations.notebook.asking import BROKEN, GradingProcess, serve
from grader.records.results import Settings
from grader.records.safe_files import MAX_SOURCE
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer

SANDBOXES = {
    "A": "a sandbox of its own", "B": "a sandbox without hidden folders",
    "D": "a process of its own, without a sandbox",
}  # fmt: skip
NAME = "your notebook"  # the name of the learner's code in messages
grading_process = GradingProcess()  # of this kernel


def check(exercise: str | int | None = None, seed: int | None = None) -> None:
    """Grade the definitions of this notebook as their cells were last run, and show the verdict.

    exercise: a number, a slug or a folder name; by default the exercise of the notebook. seed: a printed seed, to
    repeat a run. Raises RuntimeError outside of a notebook.
    """
    if seed is not None and not isinstance(seed, int):
        return _show({"text": f"seed takes a whole number, as a verdict prints it, not {seed!r}."})
    return _show(_ask("check", exercise, seed))


def setup() -> None:
    """Say that the installation is complete, and which sandbox this machine gives the learner's code."""
    from grader.sandbox import tiers

    grading_process.start()  # it is ready when the learner checks for the first time
    tier = tiers.choose()
    text = f"Ready. Your code runs in {SANDBOXES[tier.name]} (tier {tier.name})."
    _show({"text": text if tier.name == "A" else f"{text} Why no stronger one: {'; '.join(tier.reasons)}"})


def plot(exercise: str | int | None = None) -> None:
    """Show your attention weights beside the expected ones, even while the code is wrong. exercise: as for check."""
    _show(_ask("plot", exercise))


def hint(exercise: str | int | None = None, task: int | None = None) -> None:
    """Show the next hint. exercise: as for check; task: a number of a task in the lesson, by default the next one."""
    from grader.desk import hints

    try:
        chosen = _exercise(exercise)
        if task is not None:
            hints.of_task(chosen.folder, task)
    except (catalog.NoSuchExercise, WrongUse) as error:
        return _show({"text": str(error)})
    answer = hints.ask(chosen.folder, task, progress.NOTEBOOK)
    if answer.task is None:
        return _show({"text": "Every task is done: no hint is needed. All of them are in hints.md, beside the lesson."})
    if answer.hint is None:
        text = f"You have seen every hint for task {answer.task}; they are in hints.md, beside the lesson."
        return _show({"text": f"{text} The next task has its hints once this one is done: check(), or hint(task=…)."})
    text = f"Task {answer.hint.task}, hint {answer.hint.place}: {answer.hint.text}"
    return _show({"text": f"{text}\n\n{answer.left} more for this task."}, markdown=True)


def experiment(exercise: str | int | None = None) -> None:
    """Run the lesson's experiment and show its table, and whether its claim holds."""
    from grader.desk import experiment as desk
    from grader.integrations.notebook import display

    try:
        _show(display.experiment(desk.run(_exercise(exercise))))
    except (catalog.NoSuchExercise, WrongUse) as error:
        _show({"text": str(error)})


def figure(exercise: str | int | None = None) -> object:
    """The lesson's interactive figure as a widget. Its button shows your own matrices beside the expected ones."""
    from grader.integrations.notebook import display

    try:
        chosen = _exercise(exercise)
        return display.make_widget(chosen, lambda: _ask("matrices", chosen.folder))
    except (catalog.NoSuchExercise, WrongUse) as error:
        _show({"text": str(error)})
        return None


def answer(request: dict, fork_server: ForkServer) -> dict:
    """{"text", "html"} for {"what", "exercise", "source", "name", "seed"}; "what" is "check", "plot" or "matrices"."""
    try:
        return _answer(request, fork_server)
    except InfrastructureError as error:
        return {"text": BROKEN.format(error)}


def main() -> int:
    """Answer requests until there are no more. Returns the exit code."""
    return serve(answer)


def _ask(kind: str, exercise: str | int | None, seed: int | None = None) -> dict:
    """The answer of the process that grades: {"text": …, "html": …}."""
    shell = _shell()
    try:
        chosen = _exercise(exercise)
    except catalog.NoSuchExercise as error:
        return {"text": str(error)}
    defined_names = collect.defined(checkout.source(chosen.folder))
    source = collect.source(shell.history_manager.input_hist_raw, defined_names)
    if not source:
        return {
            "text": f"Run the cells that define {', '.join(defined_names)} first: none of them was run in this kernel."
        }
    return grading_process.ask({"what": kind, "exercise": chosen.folder, "source": source, "name": NAME, "seed": seed})


def _exercise(name: str | int | None) -> catalog.Exercise:
    """The exercise of this name. Without a name: that of the notebook's folder, or the one whose code was run.

    Raises NoSuchExercise.
    """
    if name is not None:
        return catalog.find(str(name))
    with contextlib.suppress(catalog.NoSuchExercise):
        return catalog.find(Path.cwd().name)
    ran = set(collect.defined("\n".join(map(_python, _shell().history_manager.input_hist_raw))))
    complete = [
        exercise for exercise in catalog.exercises() if set(collect.defined(checkout.source(exercise.folder))) <= ran
    ]
    if len(complete) == 1:
        return complete[0]
    raise catalog.NoSuchExercise('Which exercise is this? Its number says it: check("03")')


def _python(cell: str) -> str:
    """The cell if it is Python, otherwise ""."""
    try:
        ast.parse(cell)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    return cell


def _shell() -> Any:
    """The shell of the running kernel. Raises RuntimeError outside of a notebook."""
    try:
        from IPython import get_ipython
    except ImportError:
        get_ipython = bool  # calling it returns False
    shell = get_ipython()
    if not shell:
        raise RuntimeError("This works in a notebook. In a terminal: make check EX=03") from None
    return shell


def _show(answer: dict, markdown: bool = False) -> None:
    """Display an answer. markdown: its text is Markdown."""
    from IPython.display import display

    forms = {"text/plain": answer["text"]}
    if "html" in answer:
        forms["text/html"] = answer["html"]
    if markdown:
        forms["text/markdown"] = answer["text"]
    display(forms, raw=True)


def _answer(request: dict, fork_server: ForkServer) -> dict:
    exercise = catalog.find(request["exercise"])
    if len(request["source"].encode()) > MAX_SOURCE:
        return {"text": f"{request['name']} holds too much code: {MAX_SOURCE >> 10} KiB is the limit."}
    handed_in = Submission(request["source"], request["name"])

    from grader.integrations.notebook import display
    from grader.judge import capture, grading

    if form := {"plot": display.pictures, "matrices": display.matrices}.get(request["what"]):
        return form(exercise, capture.capture_pictures(exercise, handed_in, fork_server))
    seed = request["seed"] if request["seed"] is not None else secrets.randbelow(1_000_000)
    result = grading.result(exercise, handed_in, fork_server, Settings(seed=seed, where=True))
    progress.note(result, kind=progress.NOTEBOOK)
    return display.verdict(result, capture.capture_pictures(exercise, handed_in, fork_server) if result.started else ())
