"""Trains a learner's model in the sandboxed worker, a few steps at a time, and shows how its heads learn.

The lesson's train.py runs behind the learner's source in the worker, after trainee.py, and asks for parts of the
model by name alone. Or it compares runs: then it is a proof, in which the learner's code is trained beside a
twin of it. It says what is trained and why they differ, and gives only numbers; its words are read here, where it is
trusted.
"""

import contextlib
import math
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

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
LIMITS = Limits(call_s=120.0, call_cpu_s=None, total_s=3600.0, cpu_s=3600, memory_mb=2048)
AT_ONCE = 10  # steps between two pictures
PERIOD = 8  # of the sequence that is shown: sixteen tokens
SHADES = " ░▒▓█"
BAR = 24  # characters of a score of 1
PLAN = ("RUNS", "COLUMNS", "TASK", "PICTURE", "WHY", "STEPS")  # what the train.py of a proof defines
STOPPED = "Stopped after {} of {} steps."
Seen = TypeVar("Seen", "Look", "ProofLook")


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
class ProofLook:
    """What has been learned after so many steps. loss: (runs,), right: (runs, columns), weights: a matrix."""

    step: int
    loss: torch.Tensor
    right: torch.Tensor
    weights: torch.Tensor


def train(
    exercise: Exercise, submission: Submission, fork_server: ForkServer, course: Course, console: Console | None = None
) -> dict[str, torch.Tensor]:
    """Train, and show it. Returns the trained parameters; {} after a proof, whose models nobody keeps.

    Raises WrongUse if the learner's model cannot be trained.
    """
    console = console or terminal.console()
    settings = _settings(exercise)
    plan = Plan(*(settings[name] for name in PLAN)) if "RUNS" in settings else None
    if plan and course.layers:
        raise WrongUse(f"{exercise.folder} compares models of its own: LAYERS is for trainings of one model.")
    steps = course.steps or settings["STEPS"]
    source = f"{submission.source}\n\n\n{_trainer(exercise)}"
    remote = Remote(fork_server, Submission(source, submission.filename, submission.notes), exercise.slug, LIMITS)
    try:
        remote.load()
        learner = Learner(remote)
        if plan:
            train_beside(learner.Training(course.seed), plan, steps, console)
            return {}
        layers = course.layers or LAYERS
        sizes = [settings["VOCABULARY"], settings["SIZE"], settings["CONTEXT"], layers, settings["HEADS"]]
        model = getattr(learner, settings["MODEL"])(*sizes, seed=course.seed)
        trainee = learner.Training(model, course.seed)
        _train_model(trainee, steps, console)
        return {name: value.detach().clone() for name, value in model.parameters().items()}
    except (LearnerError, Mismatch) as error:
        call = error.call if isinstance(error, LearnerError) else None
        raise WrongUse(f"The training broke off.\n{messages.failure(error, call, submission)}") from None
    finally:
        remote.close()


def train_beside(trainee: Any, plan: Plan, steps: int, console: Console) -> ProofLook:
    """Train what a proof compares, and show what each has learned."""

    def show(look: ProofLook) -> list[RenderableType]:
        """The table and the weights."""
        return [*proof_table(plan, look), *proof_picture(plan, look)]

    console.print(Text(plan.task, "bold"))
    look, _ = _advance(trainee, steps, console, lambda step: _proof_look(trainee, plan, step), show)
    console.print(*show(look), sep="\n")
    if look.step < steps:
        console.print(STOPPED.format(look.step, steps))
    elif steps < plan.steps:
        console.print(f"The lesson trains for {plan.steps} steps. After {steps} you may see something else.")
    else:
        console.print(Text(plan.why))
    return look


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


@contextlib.contextmanager
def interruption() -> Iterator[Callable[[], bool]]:
    """A function that says whether Ctrl-C was pressed. The call in progress ends first, so its answer is whole."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def proof_table(plan: Plan, look: ProofLook) -> list[RenderableType]:
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


def proof_picture(plan: Plan, look: ProofLook) -> list[RenderableType]:
    """The weights as shades, two characters each."""
    rows = [Text("".join(2 * _shade(weight) for weight in row), "cyan") for row in look.weights.tolist()]
    return [Text(), Text(plan.picture, "dim"), *rows, Text()]


def _train_model(trainee: Any, steps: int, console: Console) -> None:
    """Train a model, and show how its heads learn."""

    def show(look: Look) -> list[RenderableType]:
        """The picture, and below it an empty line."""
        return [*picture(look), Text()]

    look, bar = _advance(trainee, steps, console, lambda step: _look(trainee, step), show)
    console.print(Group(*show(look), bar))
    if look.step < steps:
        console.print(STOPPED.format(look.step, steps))


def _advance(
    trainee: Any,
    steps: int,
    console: Console,
    read: Callable[[int], Seen],
    show: Callable[[Seen], Iterable[RenderableType]],
) -> tuple[Seen, Progress]:
    """Train some steps at a time, and show each look on a terminal. Ctrl-C ends the training with what is there.

    read: the look after so many steps; show: its page. Returns the last look, and the bar of the steps.
    """
    bar = Progress(TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console)
    task, look = bar.add_task("", total=steps), read(0)
    with interruption() as is_interrupted, Live(console=console, transient=True, auto_refresh=False) as live:
        while True:
            bar.update(task, completed=look.step)
            if console.is_terminal:
                live.update(Group(*show(look), bar), refresh=True)
            if look.step >= steps or is_interrupted():
                return look, bar
            count = min(AT_ONCE, steps - look.step)
            trainee.advance(count)
            look = read(look.step + count)


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


def _proof_look(trainee: Any, plan: Plan, step: int) -> ProofLook:
    """The worker's answer. Raises Mismatch where it has another form than the plan."""
    answer, (runs, columns) = trainee.look(), (len(plan.runs), len(plan.columns))
    names = ("loss", "right", "weights")
    values: list[Any] = [answer.get(name) if isinstance(answer, dict) else None for name in names]
    dimensions = [value.ndim if isinstance(value, torch.Tensor) else 0 for value in values]
    if dimensions != [1, 2, 2] or values[0].shape != (runs,) or values[1].shape != (runs, columns):
        raise Mismatch("what the training says about itself has another form than the lesson's")
    return ProofLook(step, *(value.double() for value in values))


def _loss(loss: float) -> str:
    return f"{loss:6.4f}" if math.isfinite(loss) else "     –"


def _shade(weight: float) -> str:
    if not math.isfinite(weight):
        return "?"
    return SHADES[min(len(SHADES) - 1, max(0, math.ceil(weight * (len(SHADES) - 1) - 0.25)))]
