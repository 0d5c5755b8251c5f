"""Trains a learner's model in the sandboxed worker, a few steps at a time, and shows how its heads learn.

The lesson's train.py runs behind the learner's source in the worker, and asks for parts of the model by name alone. If
it compares runs instead, it is a proof (proof.py).
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from grader.catalog import Exercise, paths
from grader.catalog.errors import InfrastructureError, WrongUse
from grader.catalog.exercise import Limits
from grader.desk import proof
from grader.judge import messages
from grader.judge.compare import Mismatch
from grader.judge.proxy import Learner
from grader.records.submission import Submission
from grader.reports import terminal
from grader.sandbox.call_results import LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.remote import Remote

LAYERS = 2
LIMITS = Limits(call_s=120.0, call_cpu_s=None, total_s=3600.0, cpu_s=3600, memory_mb=2048)
AT_ONCE = 10  # steps between two pictures
LINES = 100  # steps between two lines, where there is no terminal
PERIOD = 8  # of the sequence that is shown: sixteen tokens
SHADES = " ░▒▓█"
BAR = 24  # characters of a score of 1


@dataclass(frozen=True)
class Course:
    """One training. steps, layers: None for those of the lesson."""

    layers: int | None = None
    steps: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Look:
    """A view of the model between two steps. Scores are (num_layers, H), weights (num_layers, H, T, T)."""

    step: int
    loss: float
    previous: torch.Tensor
    induction: torch.Tensor
    weights: torch.Tensor

    @property
    def leader(self) -> tuple[int, int]:
        """Layer and number of the head with the highest induction score."""
        return divmod(int(self.induction.argmax()), self.induction.shape[1])


def train(
    exercise: Exercise, submission: Submission, fork_server: ForkServer, course: Course, console: Console | None = None
) -> dict[str, torch.Tensor]:
    """Train, and show it. Returns the trained parameters; {} after a proof, whose models nobody keeps.

    Raises WrongUse if the learner's model cannot be trained.
    """
    console = console or terminal.console()
    settings = _settings(exercise)
    plan = proof.plan(settings)
    if plan and course.layers:
        raise WrongUse(f"{exercise.folder} compares models of its own: LAYERS is for trainings of one model.")
    steps = course.steps or settings["STEPS"]
    remote = Remote(fork_server, _with_trainer(exercise, submission), exercise.slug, LIMITS)
    try:
        remote.load()
        learner = Learner(remote)
        if plan:
            proof.run(learner.Training(course.seed), plan, steps, console)
            return {}
        layers = course.layers or LAYERS
        sizes = [settings["VOCABULARY"], settings["SIZE"], settings["CONTEXT"], layers, settings["HEADS"]]
        model = getattr(learner, settings["MODEL"])(*sizes, seed=course.seed)
        trainee = learner.Training(model, course.seed)
        _run(trainee, steps, console)
        return {name: value.detach().clone() for name, value in model.parameters().items()}
    except (LearnerError, Mismatch) as error:
        call = error.call if isinstance(error, LearnerError) else None
        raise WrongUse(f"The training broke off.\n{messages.failure(error, call, submission)}") from None
    finally:
        remote.close()


def save(state: dict[str, torch.Tensor], path: Path) -> None:
    """Write a state dict, the same bytes for the same numbers. Raises WrongUse where it cannot be written."""
    try:
        with open(path, "wb") as file:
            torch.save(state, file)
    except OSError as error:
        raise WrongUse(f"{path} cannot be written: {error.strerror}") from None


def picture(look: Look) -> list[Text]:
    """The loss, the scores of every head as bars, and the weights of the head that leads."""
    lines = [Text(f"loss of the second half {look.loss:6.3f}", "bold"), Text()]
    lines.append(Text(f"head    {'looks one token back':{BAR + 6}} completes the pattern", "dim"))
    for layer, (previous, induction) in enumerate(zip(look.previous.tolist(), look.induction.tolist())):
        for head, scores in enumerate(zip(previous, induction)):
            name = Text(f"{layer}.{head}     ")
            for score in scores:
                full = round(BAR * score) if math.isfinite(score) else 0
                name.append("█" * full, "cyan").append("·" * (BAR - full), "dim").append(f" {score:.2f}  ")
            lines.append(name)
    layer, head = look.leader
    lines += [Text(), Text(f"what head {layer}.{head} looks at: a row for each token", "dim")]
    for row in look.weights[layer, head].tolist():
        lines.append(Text("".join(2 * _shade(weight) for weight in row), "cyan"))
    return lines


def line(look: Look) -> str:
    """The same in one line, for a pipe."""
    layer, head = look.leader
    best = f"head {layer}.{head} completes the pattern {float(look.induction.max()):.2f}"
    return f"step {look.step:5}  loss {look.loss:.3f}  {best}  looks one back {float(look.previous.max()):.2f}"


def _run(trainee: Any, steps: int, console: Console) -> None:
    bar = Progress(TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console)
    task, look = bar.add_task("", total=steps), _look(trainee, 0)
    with (
        proof.interruption() as is_interrupted,
        Live(_page(bar, look), console=console, transient=True, auto_refresh=False) as live,
    ):
        if not console.is_terminal:
            console.print(line(look))
        while look.step < steps and not is_interrupted():
            count = min(AT_ONCE, steps - look.step)
            trainee.advance(count)
            look = _look(trainee, look.step + count)
            bar.update(task, completed=look.step)
            if console.is_terminal:
                live.update(_page(bar, look), refresh=True)
            elif look.step % LINES == 0 or look.step == steps:
                console.print(line(look))
    if console.is_terminal:
        console.print(_page(bar, look))
    if look.step < steps:
        console.print(f"Stopped after {look.step} of {steps} steps.")


def _page(bar: Progress, look: Look) -> RenderableType:
    return Group(*picture(look), Text(), bar)


def _look(trainee: Any, step: int) -> Look:
    """The worker's answer about the model. Raises where it does not have the right form."""
    state = trainee.look(PERIOD)
    names = ("previous", "induction", "weights")
    if not isinstance(state, dict) or not isinstance(state.get("loss"), float):
        raise Mismatch("nothing is known of the model in training")
    matrices: dict[str, Any] = {name: state.get(name) for name in names}
    dimensions = [value.ndim if isinstance(value, torch.Tensor) else 0 for value in matrices.values()]
    if dimensions != [2, 2, 4] or matrices["previous"].shape != matrices["induction"].shape:
        raise Mismatch("the attention weights of the model have another shape than the lesson's")
    return Look(step, state["loss"], **{name: value.double() for name, value in matrices.items()})


def _shade(weight: float) -> str:
    return (
        SHADES[min(len(SHADES) - 1, max(0, math.ceil(weight * (len(SHADES) - 1) - 0.25)))] if weight == weight else "?"
    )


def _with_trainer(exercise: Exercise, submission: Submission) -> Submission:
    source = f"{submission.source}\n\n\n{_trainer(exercise)}"
    return Submission(source, submission.filename, submission.notes)


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
