"""A proof: the learner's code is trained beside a twin of it for some seconds, and what each has learned is shown.

The lesson's train.py says what is trained and why they differ. It runs behind the learner's source in the worker, after
trainee.py, and gives numbers alone; its words are read here, where it is trusted.
"""

import contextlib
import math
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from grader.judge.compare import Mismatch

AT_ONCE = 10  # steps between two pictures
LINES = 50  # steps between two lines, where there is no terminal
SHADES = " ░▒▓█"


@dataclass(frozen=True)
class Plan:
    """The words of a lesson's train.py. runs: what is compared; columns: what is asked of each."""

    runs: tuple[str, ...]
    columns: tuple[str, ...]
    task: str
    picture: str
    why: str
    steps: int


@dataclass(frozen=True)
class Look:
    """What has been learned after so many steps. loss: (runs,), right: (runs, columns), weights: a matrix."""

    step: int
    loss: torch.Tensor
    right: torch.Tensor
    weights: torch.Tensor


def plan(settings: dict) -> Plan | None:
    """The plan of a train.py with these names; None where it trains a single model."""
    if "RUNS" not in settings:
        return None
    return Plan(*(settings[name] for name in ("RUNS", "COLUMNS", "TASK", "PICTURE", "WHY", "STEPS")))


def run(trainee: Any, plan: Plan, steps: int, console: Console) -> Look:
    """Train, and show it. Ctrl-C ends the training with what is there."""
    bar = Progress(TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console)
    task, look = bar.add_task("", total=steps), _look(trainee, plan, 0)
    console.print(Text(plan.task, "bold"))
    with interruption() as is_interrupted, Live(console=console, transient=True, auto_refresh=False) as live:
        while look.step < steps and not is_interrupted():
            count = min(AT_ONCE, steps - look.step)
            trainee.advance(count)
            look = _look(trainee, plan, look.step + count)
            bar.update(task, completed=look.step)
            if console.is_terminal:
                live.update(Group(*table(plan, look), *picture(plan, look), bar), refresh=True)
            elif look.step % LINES == 0:
                console.print(line(plan, look), soft_wrap=True)
    console.print(*table(plan, look), *picture(plan, look), sep="\n")
    if look.step < steps:
        console.print(f"Stopped after {look.step} of {steps} steps.")
    elif steps < plan.steps:
        console.print(f"The lesson trains for {plan.steps} steps. After {steps} you may see something else.")
    else:
        console.print(Text(plan.why))
    return look


@contextlib.contextmanager
def interruption() -> Iterator[Callable[[], bool]]:
    """A function that says whether Ctrl-C was pressed. The call in progress ends first, so its answer is whole."""
    pressed: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def table(plan: Plan, look: Look) -> list[RenderableType]:
    """A row for each run: its loss, and how many percent are right in each column."""
    width = max(map(len, plan.runs))
    rows: list[RenderableType] = [
        Text(f"{'':{width}}    loss" + "".join(f"{column:>4}" for column in plan.columns), "dim")
    ]
    for name, loss, shares in zip(plan.runs, look.loss.tolist(), look.right.tolist()):
        row = Text(f"{name:{width}}  {_loss(loss)}")
        for share in shares:
            row.append(f"{100 * share:4.0f}", "green" if share > 0.95 else "red" if share < 0.5 else "yellow")
        rows.append(row)
    return rows


def picture(plan: Plan, look: Look) -> list[RenderableType]:
    """The weights as shades, two characters each."""
    rows = [Text("".join(2 * _shade(weight) for weight in row), "cyan") for row in look.weights.tolist()]
    return [Text(), Text(plan.picture, "dim"), *rows, Text()]


def line(plan: Plan, look: Look) -> str:
    """The same in one line, for a pipe."""
    shares = zip(plan.runs, look.right.mean(dim=1).tolist())
    return f"step {look.step:4}: {', '.join(f'{name} {100 * share:.0f} %' for name, share in shares)}"


def _look(trainee: Any, plan: Plan, step: int) -> Look:
    """The worker's answer. Raises Mismatch where it has another form than the plan."""
    answer, (runs, columns) = trainee.look(), (len(plan.runs), len(plan.columns))
    names = ("loss", "right", "weights")
    values: list[Any] = [answer.get(name) if isinstance(answer, dict) else None for name in names]
    dimensions = [value.ndim if isinstance(value, torch.Tensor) else 0 for value in values]
    if dimensions != [1, 2, 2] or values[0].shape != (runs,) or values[1].shape != (runs, columns):
        raise Mismatch("what the training says about itself has another form than the lesson's")
    return Look(step, *(value.double() for value in values))


def _loss(loss: float) -> str:
    return f"{loss:6.4f}" if math.isfinite(loss) else "     –"


def _shade(weight: float) -> str:
    if not math.isfinite(weight):
        return "?"
    return SHADES[min(len(SHADES) - 1, max(0, math.ceil(weight * (len(SHADES) - 1) - 0.25)))]
