"""A page worth keeping: what somebody has built, with measurements of their own code on their own machine.

What is measured of an exercise is in the file portfolio.py beside its lesson. It runs behind the learner's source in
the sandboxed worker, as train.py does; time and memory are taken from outside. Nothing of it is graded.
"""

import contextlib
import hashlib
import math
import os
import platform
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from grader import catalog
from grader.catalog import Exercise, paths
from grader.catalog.errors import BadSubmission, InfrastructureError, NoSuchFile, WrongUse
from grader.catalog.exercise import Limits
from grader.desk import ending, progress
from grader.judge import inputs, messages
from grader.judge.compare import Mismatch
from grader.judge.proxy import Learner
from grader.records import submission
from grader.records.submission import Submission
from grader.reports import templating
from grader.sandbox.call_results import LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.process import MEBIBYTE
from grader.sandbox.remote import Remote

TEMPLATE, TITLE = "desk/templates/portfolio.html", "Attention, by hand: what I have built"
LIMITS = Limits(call_s=120.0, call_cpu_s=60.0, total_s=900.0, cpu_s=900, memory_mb=2048)
MEMORY_MB = 4096  # for a call whose memory is measured
FINGERPRINT = 16  # digits of a file's SHA-256
WORKFLOW = ".github/workflows/grade.yml"  # of the learners' bundle
ON_GITHUB = re.compile(r"github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$")
YOURS = re.compile(r"\byour\b")
ENOUGH_S = 5.0  # a run that takes longer is not made again
CHART, LEFT, BELOW, ABOVE, RIGHT = (460, 242), 64, 26, 14, 16  # SVG units


@dataclass(frozen=True)
class Measured:
    """What was measured of one exercise. result: the most striking number as a sentence; columns, rows: as a table."""

    exercise: Exercise
    kind: str
    title: str
    says: str
    result: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    shares: tuple[float, ...] = ()  # of the largest bar, for each row
    chart: "Chart | None" = None
    stripe: tuple[tuple[float, ...], ...] = ()  # the weights of a head


@dataclass(frozen=True)
class Line:
    """One curve of a chart. points: as SVG takes them; at: where its last point is."""

    name: str
    points: str
    at: tuple[float, float]


@dataclass(frozen=True)
class Chart:
    """Curves over doubled sizes, both axes in powers of two. ticks: places and words."""

    lines: tuple[Line, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    x_name: str
    y_name: str
    says: str


@dataclass(frozen=True)
class File:
    """One exercise that was passed. state: what the file is now; seed: of its last verdict."""

    name: str
    passed: str
    points: str
    seed: str
    fingerprint: str
    state: str


@dataclass(frozen=True)
class PathDone:
    """A path that was completed, and on which day."""

    name: str
    after: str
    day: str
    abilities: tuple[tuple[str, str, str], ...]  # exercise, what one can do, where well-known code has it


@dataclass
class Portfolio:
    """All that the page shows. missing: what is not shown, and why."""

    made: str
    passed: int
    count: int
    points: str
    first: str
    last: str
    measured: list[Measured] = field(default_factory=list)
    done: list[PathDone] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    machine: list[tuple[str, str]] = field(default_factory=list)
    badge: str = ""  # the address of the workflow on GitHub, without its ending

    @property
    def days(self) -> str:
        """When the exercises were passed: "from 2026-01-01 to 2026-02-01"."""
        return f"on {self.first}" if self.first == self.last else f"from {self.first} to {self.last}"


def collect(fork_server: ForkServer, say: Callable[[str], None]) -> Portfolio:
    """Measure what can be measured, and put it together. say: told what is under way. Raises WrongUse if nothing is."""
    states, exercises = progress.load(), catalog.by_path()
    passed = [one for one in exercises if progress.state(one.folder, states).done]
    if not passed:
        raise WrongUse("There is nothing to show yet. Pass an exercise first: make start")
    days = sorted(states[one.folder].first_pass or 0 for one in passed)
    points = sum(states[one.folder].points for one in passed)
    portfolio = Portfolio(
        time.strftime("%Y-%m-%d"), len(passed), len(exercises), f"{points:g}", _day(days[0]), _day(days[-1])
    )
    for exercise in exercises:
        if paths.portfolio(exercise.folder).exists():
            _add_measurement(portfolio, exercise, exercise in passed, fork_server, say)
    portfolio.done = _paths_done(states)
    portfolio.files = [_file(one, states[one.folder]) for one in passed]
    portfolio.machine = _machine(fork_server)
    portfolio.badge = _badge()
    portfolio.missing += _missing(exercises, passed, portfolio.badge)
    return portfolio


def page(portfolio: Portfolio) -> str:
    """The page, which loads nothing from anywhere and needs no script."""
    style = paths.module("desk/templates/portfolio.css").read_text("utf-8")
    size = {"width": CHART[0], "height": CHART[1], "left": LEFT, "right": RIGHT, "above": ABOVE, "below": BELOW}
    return templating.document(TEMPLATE, TITLE, style=style, portfolio=portfolio, size=size)


def markdown(portfolio: Portfolio, page_name: str) -> str:
    """A section for a README or a CV."""
    badge = f"[![graded]({portfolio.badge}/badge.svg)]({portfolio.badge})\n\n" if portfolio.badge else ""
    days = f"passed {portfolio.days}"
    lines = [
        f"## Attention, by hand\n\n{badge}I wrote attention myself in PyTorch, from the dot product up: "
        f"{portfolio.passed} of {portfolio.count} exercises, {portfolio.points} points, {days}.\n"
    ]
    lines += [f"- **{one.name}** ({one.day}): I can {one.after}." for one in portfolio.done]
    lines += [f"- {one.result}" for one in portfolio.measured]
    (_, processor), *software = portfolio.machine[:3]
    facts = ", ".join([processor, *(f"{name} {value}" for name, value in software)])
    lines.append(
        f"\nMeasured on {portfolio.made} with my own code: {facts}. The whole page: [{page_name}]({page_name})."
    )
    return "\n".join(lines) + "\n"


def fingerprint(content: bytes) -> str:
    """The first digits of the SHA-256 of a file."""
    return hashlib.sha256(content).hexdigest()[:FINGERPRINT]


def _add_measurement(
    portfolio: Portfolio, exercise: Exercise, is_passed: bool, fork_server: ForkServer, say: Callable[[str], None]
) -> None:
    """Measure one exercise, or say why it is missing."""
    number, name = exercise.folder[:2], f"{exercise.folder[:2]} {exercise.title}"
    if not is_passed:
        portfolio.missing.append(f"{name}: not measured, because it is not passed yet (make start EX={number}).")
        return
    try:
        say(f"measuring {name} …")
        portfolio.measured.append(measure(exercise, submission.read(paths.stub(exercise.folder)), fork_server))
    except (WrongUse, BadSubmission, NoSuchFile) as error:
        portfolio.missing.append(f"{name}: not measured. {YOURS.sub('my', str(error).splitlines()[0])}")


def measure(exercise: Exercise, submitted: Submission, fork_server: ForkServer) -> Measured:
    """Measure one exercise with the learner's file. Raises WrongUse where that cannot be done."""
    settings, text = _settings(exercise)
    source = Submission(f"{submitted.source}\n\n\n{text}", submitted.filename, submitted.notes)
    remote = Remote(fork_server, source, exercise.slug, LIMITS)
    try:
        remote.load()
        return KINDS[settings["KIND"]](exercise, settings, remote)
    except (LearnerError, Mismatch) as error:
        call = error.call if isinstance(error, LearnerError) else None
        raise WrongUse(messages.failure(error, call, submitted)) from None
    finally:
        remote.close()


def _measure_memory(exercise: Exercise, settings: dict[str, Any], remote: Remote) -> Measured:
    """Curves of MiB over sizes; None where a process was given no more memory."""
    ways, sizes = settings["WAYS"], settings["SIZES"]
    curves = {name: [_peak(remote, function, size) for size in sizes] for name, function in ways.items()}
    rows = [(f"{size:,}", *(_mebibytes(curve[i]) for curve in curves.values())) for i, size in enumerate(sizes)]
    both = [i for i in range(len(sizes)) if all(curve[i] is not None for curve in curves.values())]
    if not both:
        raise WrongUse("This machine does not tell how much memory a process takes.")
    first, second = ([curve[both[-1]] or 0.0 for curve in curves.values()] + [0.0])[:2]
    result = settings["RESULT"].format(size=sizes[both[-1]], first=first, second=second)
    columns = (settings["SIZE_NAME"], *(f"{name}, MiB" for name in ways))
    parts = exercise, settings["KIND"], settings["TITLE"], settings["SAYS"], result, columns, tuple(rows)
    return Measured(*parts, chart=_chart(sizes, curves, settings["SIZE_NAME"], "MiB"))


def _peak(remote: Remote, function: str, size: int) -> float | None:
    """MiB by which a fresh process grows in a call, after a small call in which torch takes some on its first use."""
    learner = Learner(remote)
    with remote.measured(MEMORY_MB) as meter:
        try:
            getattr(learner, function)(64, measured=True)
            before = meter.look()
            getattr(learner, function)(size, measured=True)
            after = meter.look()
        except LearnerError as error:
            if "memory" in str(error.facts.get("message", "")).lower():
                return None
            raise
    return None if before is None or after is None else max((after - before) / MEBIBYTE, 0.1)


def _measure_speed(exercise: Exercise, settings: dict[str, Any], remote: Remote) -> Measured:
    """Tokens a second of each way: the better of two runs."""
    learner, speeds = Learner(remote), {}
    for name, function in settings["WAYS"].items():
        seconds: list[float] = []
        while len(seconds) < 2 and sum(seconds) < ENOUGH_S:
            began = time.perf_counter()
            count = getattr(learner, function)()
            seconds.append(time.perf_counter() - began)
        if not isinstance(count, int):
            raise Mismatch("nothing was counted")
        speeds[name] = count / min(seconds)
    slow, fast = list(speeds.values())[:2]
    result = settings["RESULT"].format(first=slow, second=fast, ratio=fast / slow)
    rows = tuple((name, f"{speed:,.0f}") for name, speed in speeds.items())
    shares = tuple(speed / max(speeds.values()) for speed in speeds.values())
    parts = exercise, settings["KIND"], settings["TITLE"], settings["SAYS"], result, ("", settings["UNIT"]), rows
    return Measured(*parts, shares=shares)


def _measure_heads(exercise: Exercise, settings: dict[str, Any], remote: Remote) -> Measured:
    """The stripe of the head that was found, and the loss without each head, of a model that the learner trained."""
    file = paths.own_model(exercise.folder)
    number = exercise.folder[:2]
    state = _own_model(file, f"make train EX={number}")
    layers = len({name.split(".")[1] for name in state if name.startswith("layers.")})
    learner = Learner(remote)
    model = getattr(learner, settings["MODEL"])(*settings["SIZES"], layers, settings["HEADS"], seed=0, state=state)
    seen = learner.look_at_heads(model)
    if not isinstance(seen, dict) or not all(
        isinstance(seen.get(name), torch.Tensor) and seen[name].ndim == 2 for name in ("scores", "without", "weights")
    ):
        raise Mismatch("the attention weights of the model have another shape than the lesson's")
    scores, without, loss, place = seen["scores"], seen["without"], float(seen["loss"]), (seen["layer"], seen["head"])
    heads = [divmod(i, scores.shape[1]) for i in range(scores.numel())]
    rows = tuple(
        (f"{layer}.{head}", f"{scores[layer, head]:.2f}", f"{without[layer, head]:.2f}") for layer, head in heads
    )
    worth = [max(float(without[at]) - loss, 0.0) for at in heads]
    facts = {"score": float(scores[place]), "loss": loss, "without": float(without[place])}
    result = settings["RESULT"].format(layer=place[0], head=place[1], **facts)
    says = (
        f"{settings['SAYS']} The model was trained on {_day(file.stat().st_mtime)}, and the SHA-256 of its file begins "
        f"with {fingerprint(file.read_bytes())}. Seed {settings['SEED']} draws the tokens."
    )
    columns = ("head", "completes the pattern", "loss without it")
    shares = tuple(one / (max(worth) or 1.0) for one in worth)
    stripe = tuple(tuple(round(min(max(x, 0.0), 1.0), 2) for x in row) for row in seen["weights"].double().tolist())
    parts = exercise, settings["KIND"], settings["TITLE"], says, result, columns, rows
    return Measured(*parts, shares=shares, stripe=stripe)


KINDS: dict[str, Callable[[Exercise, dict[str, Any], Remote], Measured]] = {
    "memory": _measure_memory, "speed": _measure_speed, "heads": _measure_heads,
}  # fmt: skip


def _own_model(file: Path, command: str) -> dict[str, torch.Tensor]:
    """The parameters of a model that the learner trained. Raises WrongUse where there are none."""
    if not file.exists():
        raise WrongUse(f"There is no model of your own yet ({command} trains one).")
    try:
        return inputs.read_state(file)
    except ValueError as error:
        raise WrongUse(str(error)) from None


def _settings(exercise: Exercise) -> tuple[dict[str, Any], str]:
    """The constants of portfolio.py, which is ours, and its text."""
    file, names = paths.portfolio(exercise.folder), dict[str, Any]()
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise InfrastructureError(f"{paths.shown(file)} cannot be read: {error.strerror}") from None
    exec(compile(text, str(file), "exec"), names)
    return names, text


def _chart(sizes: Sequence[int], curves: dict[str, list[float | None]], x_name: str, y_name: str) -> Chart:
    """Curves with powers of two on both axes."""
    values = [value for curve in curves.values() for value in curve if value is not None]
    low, high = math.floor(math.log2(max(min(values), 1))), math.ceil(math.log2(max(*values, 2)))
    width, height = CHART[0] - LEFT - RIGHT, CHART[1] - ABOVE - BELOW
    first, last = math.log2(sizes[0]), math.log2(sizes[-1])

    def x_of(size: float) -> float:
        return round(LEFT + (math.log2(size) - first) / (last - first) * width, 1)

    def y_of(value: float) -> float:
        return round(ABOVE + height * (1 - (math.log2(max(value, 2**low)) - low) / (high - low or 1)), 1)

    lines = []
    for name, curve in curves.items():
        points = [(x_of(size), y_of(value)) for size, value in zip(sizes, curve, strict=True) if value is not None]
        lines.append(Line(name, " ".join(f"{x},{y}" for x, y in points), points[-1] if points else (0.0, 0.0)))
    spoken = "; ".join(
        f"{name}: " + ", ".join(f"{_mebibytes(value)} at {size:,}" for size, value in zip(sizes, curve, strict=True))
        for name, curve in curves.items()
    )
    x_ticks = tuple((x_of(size), f"{size:,}") for size in sizes)
    y_ticks = tuple((y_of(2.0**power), f"{2**power:,}") for power in range(low, high + 1, max(1, (high - low) // 5)))
    return Chart(tuple(lines), x_ticks, y_ticks, x_name, y_name, spoken)


def _mebibytes(value: float | None) -> str:
    return "did not fit" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _paths_done(states: dict[str, progress.State]) -> list[PathDone]:
    """The paths whose exercises are all passed."""
    done = []
    for path in catalog.learning_paths():
        folders = [one.folder for one in catalog.by_path() if one.path == path]
        moments = [progress.state(folder, states).first_pass for folder in folders]
        days = [moment for moment in moments if moment is not None]
        if path.after and folders and len(days) == len(folders):
            said = tuple(
                (f"{folder[:2]} {catalog.find(folder).title}", ending.ability(folder), ending.in_real_code(folder))
                for folder in folders
            )
            done.append(PathDone(path.name, YOURS.sub("my", path.after), _day(max(days)), said))
    return done


def _file(exercise: Exercise, state: progress.State) -> File:
    """The row of an exercise that was passed."""
    result, path = progress.last(exercise.folder), paths.stub(exercise.folder)
    own = state.files.get(progress.FILE)
    digits, now = "–", "passed in a notebook" if own is None else "not known"
    with contextlib.suppress(OSError):
        digits = fingerprint(path.read_bytes())
        graded = paths.last_result(exercise.folder).stat().st_mtime
        if own is not None:
            is_same = own.status == "passed" and path.stat().st_mtime <= graded
            now = "as it passed" if is_same else "changed since it passed"
    seed = "–" if result is None or result.seed is None else str(result.seed)
    points = f"{state.points:g}/{exercise.max_points:g}"
    return File(f"{exercise.folder[:2]} {exercise.title}", _day(state.first_pass or 0), points, seed, digits, now)


def _missing(exercises: Sequence[Exercise], passed: Sequence[Exercise], badge: str) -> list[str]:
    """What the page does not show."""
    said = []
    open_ones = sorted(f"{one.folder[:2]} {one.title}" for one in exercises if one not in passed)
    if open_ones:
        said.append(f"Not passed: {', '.join(open_ones)}.")
    said.append("No GPU was used: every number here was measured on a processor.")
    if any(one.hidden_points for one in passed):
        said.append("Hidden checks: this copy grades with the printed numbers alone.")
    by = (
        f"A run by others is at {badge}."
        if badge
        else "A workflow of GitHub that grades the same files would say more."
    )
    said.append(f"Proof: these verdicts were given on this machine, where a file can be edited. {by}")
    return said


def _machine(fork_server: ForkServer) -> list[tuple[str, str]]:
    """Where it was measured."""
    return [
        ("Processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("PyTorch", torch.__version__),
        ("Python", platform.python_version()),
        ("System", f"{platform.system()} {platform.machine()}"),
        ("Sandbox", f"tier {fork_server.tier.name}"),
    ]


def _processor() -> str:
    with contextlib.suppress(OSError):
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text("utf-8"), re.M)
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()


def _badge() -> str:
    """The address of the workflow that grades this copy on GitHub; "" where there is none."""
    if not paths.at_desk(WORKFLOW).exists():
        return ""
    command = ["git", "-C", str(paths.DESK), "config", "--get", "remote.origin.url"]
    try:
        address = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # no git
        return ""
    found = ON_GITHUB.search(address)
    return f"https://github.com/{found[1]}/actions/workflows/{Path(WORKFLOW).name}" if found else ""


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))
