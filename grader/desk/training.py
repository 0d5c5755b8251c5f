"""Trains a learner's model in the sandboxed worker, a few steps at a time, and shows how its heads learn.

The lesson's train.py runs behind the learner's source in the worker, after trainee.py, and asks for parts of the
model by name alone. Or it compares runs: then it is a proof, in which the learner's code is trained beside a
twin of it. It says what is trained and why they differ, and gives only numbers; its words are read here, where it is
trusted.
"""

import math
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from grader.catalog import Exercise, paths
from grader.catalog.errors import InfrastructureError, WrongUse
from grader.catalog.exercise import Limits
from grader.judge import messages
from grader.judge.compare import Mismatch
from grader.judge.proxy import Learner
from grader.records.submission import Submission
from grader.reports import terminal
from grader.sandbox.call_results import LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.remote import Remote

LAYERS = 2
SEED = 0  # of the first numbers and of the tokens
LIMITS = Limits(call_s=120.0, call_cpu_s=None, total_s=3600.0, cpu_s=3600, memory_mb=2048)
AT_ONCE = 10  # steps between two pictures
PERIOD = 8  # of the sequence that is shown: sixteen tokens
SHADES = " ░▒▓█"
BAR = 24  # characters of a score of 1
OTHER_FORM = "what the training says about itself has another form than the lesson's"
Look = dict[str, torch.Tensor]  # what the worker says of a training between two steps


class Plan(NamedTuple):
    """What the train.py of a proof says, RUNS and so on. runs: what is compared; columns: what is asked of each."""

    runs: tuple[str, ...]
    columns: tuple[str, ...]
    task: str
    picture: str
    why: str


def train(
    exercise: Exercise,
    submission: Submission,
    fork_server: ForkServer,
    layers: int | None = None,
    console: Console | None = None,
) -> dict[str, torch.Tensor]:
    """Train, and show it. Returns the trained parameters; {} after a proof, whose models nobody keeps.

    layers: by default those of the lesson. Raises WrongUse if the learner's model cannot be trained.
    """
    console = console or terminal.console()
    settings = _settings(exercise)
    plan = Plan(*(settings[name.upper()] for name in Plan._fields)) if "RUNS" in settings else None
    if plan and layers:
        raise WrongUse(f"{exercise.folder} compares models of its own: LAYERS is for trainings of one model.")
    steps = settings["STEPS"]
    source = f"{submission.source}\n\n\n{_trainer(exercise)}"
    remote = Remote(fork_server, Submission(source, submission.filename, submission.notes), exercise.slug, LIMITS)
    try:
        remote.load()
        learner = Learner(remote)
        if plan:
            train_beside(learner.Training(SEED), plan, steps, console)
            return {}
        sizes = [settings["VOCABULARY"], settings["SIZE"], settings["CONTEXT"], layers or LAYERS, settings["HEADS"]]
        model = getattr(learner, settings["MODEL"])(*sizes, seed=SEED)
        trainee = learner.Training(model, SEED)
        form = {"loss": 0, "previous": 2, "induction": 2, "weights": 4}
        _advance(trainee, steps, console, lambda: picture(_look(trainee.look(PERIOD), form)))
        return {name: value.detach().clone() for name, value in model.parameters().items()}
    except (LearnerError, Mismatch) as error:
        call = error.call if isinstance(error, LearnerError) else None
        raise WrongUse(f"The training broke off.\n{messages.failure(error, call, submission)}") from None
    finally:
        remote.close()


def train_beside(trainee: Any, plan: Plan, steps: int, console: Console) -> int:
    """Train what a proof compares, and show what each has learned. Returns the steps that it took."""

    def page() -> list[RenderableType]:
        """The table and the weights."""
        look = _look(trainee.look(), {"loss": 1, "right": 2, "weights": 2})
        if look["right"].shape != (len(plan.runs), len(plan.columns)) or len(look["loss"]) != len(plan.runs):
            raise Mismatch(OTHER_FORM)
        return [*_table(plan, look), Text(), Text(plan.picture, "dim"), *_shaded(look["weights"])]

    console.print(Text(plan.task, "bold"))
    done = _advance(trainee, steps, console, page)
    if done == steps:
        console.print(Text(plan.why))
    return done


def save(state: dict[str, torch.Tensor], path: Path) -> None:
    """Write a state dict, the same bytes for the same numbers. Raises WrongUse where it cannot be written."""
    try:
        with open(path, "wb") as file:
            torch.save(state, file)
    except OSError as error:
        raise WrongUse(f"{path} cannot be written: {error.strerror}") from None


def picture(look: Look) -> list[RenderableType]:
    """The loss, the scores of every head as bars, and the weights of the head that leads.

    look: the scores are (num_layers, H), the weights (num_layers, H, T, T). Raises Mismatch where they are not.
    """
    if look["previous"].shape != look["induction"].shape or look["weights"].shape[:2] != look["induction"].shape:
        raise Mismatch(OTHER_FORM)
    lines: list[RenderableType] = [Text(f"loss of the second half {look['loss'].item():6.3f}", "bold"), Text()]
    lines.append(Text(f"head    {'looks one token back':{BAR + 6}} completes the pattern", "dim"))
    for layer, (previous, induction) in enumerate(zip(look["previous"].tolist(), look["induction"].tolist())):
        for head, scores in enumerate(zip(previous, induction)):
            name = Text(f"{layer}.{head}     ")
            for score in scores:
                full = round(BAR * score) if math.isfinite(score) else 0
                name.append("█" * full, "cyan").append("·" * (BAR - full), "dim").append(f" {score:.2f}  ")
            lines.append(name)
    layer, head = divmod(int(look["induction"].argmax()), look["induction"].shape[1])
    lines += [Text(), Text(f"what head {layer}.{head} looks at: a row for each token", "dim")]
    return [*lines, *_shaded(look["weights"][layer, head])]


def _advance(trainee: Any, steps: int, console: Console, page: Callable[[], list[RenderableType]]) -> int:
    """Train some steps at a time, and show each page on a terminal, the last one everywhere. Returns the steps.

    Ctrl-C ends it. The call in progress ends first, so its answer is whole.
    """
    bar = Progress(TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console)
    task, done, shown = bar.add_task("", total=steps), 0, page()
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        with Live(console=console, transient=True, auto_refresh=False) as live:
            while done < steps and not pressed:
                if console.is_terminal:
                    live.update(Group(*shown, Text(), bar), refresh=True)
                count = min(AT_ONCE, steps - done)
                trainee.advance(count)
                done, shown = done + count, page()
                bar.update(task, completed=done)
    finally:
        signal.signal(signal.SIGINT, before)
    console.print(Group(*shown, Text(), bar))
    if done < steps:
        console.print(f"Stopped after {done} of {steps} steps.")
    return done


def _look(answer: Any, dimensions: dict[str, int]) -> Look:
    """The worker's answer as tensors. dimensions: how many each has. Raises Mismatch for anything else."""
    given = answer if isinstance(answer, dict) else {}
    numbers = {name: value for name, value in given.items() if isinstance(value, (float, torch.Tensor))}
    look = {name: torch.as_tensor(value).double() for name, value in numbers.items()}
    if {name: value.ndim for name, value in look.items()} != dimensions:
        raise Mismatch(OTHER_FORM)
    return look


def _table(plan: Plan, look: Look) -> list[RenderableType]:
    """A row for each run: its loss, and how many percent are right in each column."""
    width = max(map(len, plan.runs))
    rows: list[RenderableType] = [
        Text(" " * (width + 4) + "loss" + "".join(f"{name:>4}" for name in plan.columns), "dim")
    ]
    for name, loss, shares in zip(plan.runs, look["loss"].tolist(), look["right"].tolist()):
        row = Text(f"{name:{width}}  {f'{loss:6.4f}' if math.isfinite(loss) else '     –'}")
        for share in shares:
            row.append(f"{100 * share:4.0f}", "green" if share > 0.95 else "red" if share < 0.5 else "yellow")
        rows.append(row)
    return rows


def _settings(exercise: Exercise) -> dict:
    """The constants of the lesson's train.py, which is ours."""
    names: dict = {}
    exec(compile(_trainer(exercise), str(paths.trainer(exercise.folder)), "exec"), names)
    return names


def _trainer(exercise: Exercise) -> str:
    """The lesson's train.py behind what all proofs share."""
    path = paths.trainer(exercise.folder)
    try:
        return paths.module("desk/trainee.py").read_text("utf-8") + path.read_text("utf-8")
    except OSError as error:
        raise InfrastructureError(f"{paths.shown(path)} cannot be read: {error.strerror}") from None


def _shaded(weights: torch.Tensor) -> list[Text]:
    """A matrix of weights as shades, two characters each; ? for what is no number."""
    most = len(SHADES) - 1
    shades = (weights.nan_to_num(0.0) * most - 0.25).ceil().clamp(0, most)
    marks = torch.where(weights.isfinite(), shades, most + 1).long()
    return [Text("".join(2 * f"{SHADES}?"[mark] for mark in row), "cyan") for row in marks.tolist()]
