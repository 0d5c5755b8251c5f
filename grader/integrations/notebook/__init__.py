"""In a notebook: `from grader.notebook import check, experiment, figure, hint, plot`, then `check()`.

The kernel only collects what was run, and shows the answer. Grading runs in a process of its own, whose code the
notebook cannot change, with the learner's code in a sandboxed worker as everywhere.
"""

import ast
import contextlib
import json
import subprocess
import sys
from pathlib import Path

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import WrongUse
from grader.desk import reset
from grader.integrations.notebook import collect

WALLS = {
    "A": "a sandbox of its own", "B": "a sandbox without hidden folders", "C": "a sandbox that opens no files",
    "D": "a process of its own, without a sandbox",
}  # fmt: skip
NAME = "your notebook"  # what the learner's code is called in messages


def check(exercise: str | int | None = None, seed: int | None = None) -> None:
    """Grade what this notebook holds now: the definitions as their cells were last run. Shows the verdict."""
    _show(_asked("check", exercise, seed))


def setup() -> None:
    """Say that all is there, and how well the learner's code is walled in on this machine."""
    from grader.sandbox import tiers

    tier = tiers.choose()
    text = f"Ready. Your code runs in {WALLS[tier.name]} (tier {tier.name})."
    _show({"text": text if tier.name == "A" else f"{text} Why no stronger one: {'; '.join(tier.reasons)}"})


def plot(exercise: str | int | None = None) -> None:
    """Show your attention weights beside the expected ones. It works while the code is still wrong."""
    _show(_asked("plot", exercise))


def hint(exercise: str | int | None = None, task: int | None = None) -> None:
    """Show the next hint, for `task` where it is given."""
    from grader.desk import hints, progress

    try:
        chosen = _exercise(exercise)
    except catalog.NoSuchExercise as error:
        return _show({"text": str(error)})
    answer = hints.ask(chosen.folder, task, progress.NOTEBOOK)
    if answer.task is None:
        return _show(
            {"text": "Every task is done: no hint is needed. All of them stand in hints.md, beside the lesson."}
        )
    if answer.hint is None:
        said = f"You have seen every hint for task {answer.task}; they stand in hints.md, beside the lesson."
        return _show({"text": f"{said} The next task has its hints once this one is done: check(), or hint(task=…)."})
    text = f"Task {answer.hint.task}, hint {answer.hint.stage} of {answer.hint.of}: {answer.hint.text}"
    left = f"{answer.left_of_task} more for this task, {answer.left} in all."
    return _show({"text": f"{text}\n\n{left}"}, markdown=True)


def experiment(exercise: str | int | None = None) -> None:
    """Run the lesson's experiment and show its table with bars, and whether its claim holds."""
    from grader.desk import experiment as desk
    from grader.integrations.notebook import display

    try:
        _show(display.experiment(desk.run(_exercise(exercise))))
    except (catalog.NoSuchExercise, WrongUse) as error:
        _show({"text": str(error)})


def figure(exercise: str | int | None = None) -> object:
    """The lesson's figure to play with, as a widget. Its button puts your own matrices beside the expected ones."""
    from grader.integrations.notebook import figure_widget

    try:
        chosen = _exercise(exercise)
        return figure_widget.make(chosen, lambda: _asked("matrices", chosen.folder))
    except (catalog.NoSuchExercise, WrongUse) as error:
        return _show({"text": str(error)})


def _asked(kind: str, exercise: str | int | None, seed: int | None = None) -> dict:
    """The answer of the process that grades: {"text": …, "html": …}."""
    shell = _shell()
    try:
        chosen = _exercise(exercise)
    except catalog.NoSuchExercise as error:
        return {"text": str(error)}
    wanted = collect.defined(reset.source(chosen.folder))
    source = collect.source(shell.history_manager.input_hist_raw, wanted)
    if not source:
        return {"text": f"Run the cells that define {', '.join(wanted)} first: none of them was run in this kernel."}
    request = {"what": kind, "exercise": chosen.folder, "source": source, "name": NAME, "seed": seed}
    # Not in the notebook's folder: what lies beside it must not be imported there.
    done = subprocess.run(
        [sys.executable, "-m", "grader.integrations.notebook"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        cwd=paths.ROOT,
        check=False,
    )
    try:
        return json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]
        return {"text": f"The grader could not do its work: {last}"}


def _exercise(name: str | int | None) -> catalog.Exercise:
    """The exercise that is named, else the one in whose folder the notebook lies, else whose code was run.

    Raises NoSuchExercise.
    """
    if name is not None:
        return catalog.find(str(name))
    with contextlib.suppress(catalog.NoSuchExercise):
        return catalog.find(Path.cwd().name)
    ran = set(collect.defined("\n".join(map(_python, _shell().history_manager.input_hist_raw))))
    complete = [one for one in catalog.exercises() if set(collect.defined(reset.source(one.folder))) <= ran]
    if len(complete) == 1:
        return complete[0]
    raise catalog.NoSuchExercise('Which exercise is this? Its number says it: check("03")')


def _python(cell: str) -> str:
    """The cell where it is Python, else nothing."""
    try:
        ast.parse(cell)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    return cell


def _shell():
    try:
        from IPython import get_ipython
    except ImportError:
        get_ipython = bool  # calling it gives False
    shell = get_ipython()
    if not shell:
        raise RuntimeError("This works in a notebook. In a terminal: make check EX=03") from None
    return shell


def _show(answer: dict, markdown: bool = False) -> None:
    from IPython.display import display

    forms = {"text/plain": answer["text"]}
    if "html" in answer:
        forms["text/html"] = answer["html"]
    if markdown:
        forms["text/markdown"] = answer["text"]
    display(forms, raw=True)
