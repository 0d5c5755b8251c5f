"""An exercise as its exercise.toml describes it, with the limits of its workers, and how to find one by name."""

import difflib
import functools
import re
from dataclasses import dataclass, field
from typing import Any

from grader.catalog import paths, project
from grader.catalog.errors import InfrastructureError
from grader.catalog.project import read_toml
from grader.worker.operations import GROUPS

FOLDER = re.compile(r"\d\d_[a-z0-9_]+")


@dataclass(frozen=True)
class Limits:
    """What one worker may use. memory_mb: megabytes above what torch itself takes; None sets no limit.

    A call is ended after `call_s` seconds of wall-clock time; after `call_cpu_s` seconds of processor time without
    newly allocated memory, or four times as many with it; and after sleeping for that long. So an endless loop is found
    early, a busy machine does not shorten anybody's time, and an import, which allocates memory throughout, may last.
    Correct code takes at most 0.05 s, in pure Python. Loading a file may run its own tests, so it has `load_cpu_s`.
    """

    call_s: float = 5.0
    call_cpu_s: float | None = 1.0
    load_cpu_s: float | None = 2.0
    total_s: float = 60.0
    cpu_s: int = 60
    memory_mb: int | None = 1024
    open_files: int = 32
    processes: int | None = 0  # processes and threads that the code may start; None sets no limit
    needs: tuple[str, ...] = ()  # packages that it has besides torch, numpy and einops: worker/kernels.py
    rule: "Forbidden | None" = None  # it lacks the ready-made functions that this rule forbids
    measured: bool = False  # whether the worker's memory is measured; it then returns unused memory at once
    measured_s: float = 120.0  # of processor time, for a call whose memory is measured: its inputs are large


class NoSuchExercise(Exception):
    """No exercise has the requested name. The text says what to type instead."""


@dataclass(frozen=True)
class Forbidden:
    """Ready-made functions that must not be used, because the exercise asks the learner to write them.

    functions: the functions to which the rule applies, with all that they call; names: the names that must not be used;
    allowed: the groups of operations of torch's dispatcher (worker/operations.py) that may be used.
    """

    functions: tuple[str, ...]
    names: tuple[str, ...]
    allowed: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Misconception:
    """What learners misunderstand.

    lesson: the number of the exercise that teaches it; section: what to read again; hint: a question that leads there.
    """

    id: str
    title: str
    lesson: str
    section: str
    hint: str = ""


@dataclass(frozen=True)
class LearningPath:
    """Exercises that build on each other, as learning_paths.toml lists them.

    numbers: of the exercises, in order. after: what a learner can do after it. warm_up: it prepares for the others; its
    points are in no sum, and a class grades it only where it is named. pause: after it is a good place to stop.
    """

    name: str
    numbers: tuple[str, ...]
    after: str
    warm_up: bool = False
    pause: bool = False


OTHER = LearningPath("other", (), "")


@dataclass(frozen=True)
class Exercise:
    """One exercise, as its exercise.toml describes it."""

    folder: str  # "03_context_vectors"
    title: str
    points: dict[str, float]  # of each check, in the order shown
    limits: Limits
    forbidden: tuple[Forbidden, ...] = ()
    trains: str = ""  # the number of the exercise whose model `make train` trains here
    hidden_points: float = 0.0  # in a learner's bundle: the points of the hidden checks, which it lacks
    misconceptions: tuple[Misconception, ...] = ()  # those that this lesson clears up
    waits: dict[int, str] = field(default_factory=dict)  # by task: why checks of other tasks wait for those of this one
    device: str = ""  # "cpu": judged there on every machine; "": where the settings say
    writes: str = ""  # the class that `make write` lets write, with read_safetensors and generate beside it

    @property
    def number(self) -> int:
        """3 for the folder "03_context_vectors"."""
        return int(self.folder[:2])

    @property
    def path(self) -> LearningPath:
        """The path that it is in. One that learning_paths.toml does not list is in OTHER."""
        return next((path for path in learning_paths() if self.folder[:2] in path.numbers), OTHER)

    @property
    def slug(self) -> str:
        """ "context_vectors" for the folder "03_context_vectors"."""
        return paths.slug(self.folder)

    @property
    def max_points(self) -> float:
        """The sum of the points of all checks."""
        return round(sum(self.points.values()), 6)


@functools.cache
def learning_paths() -> tuple[LearningPath, ...]:
    """All paths in order. Raises InfrastructureError where learning_paths.toml cannot be read."""
    try:
        tables = read_toml(paths.LEARNING_PATHS)["path"]
        return tuple(LearningPath(numbers=_numbers(table.pop("exercises")), **table) for table in tables)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InfrastructureError(f"{paths.shown(paths.LEARNING_PATHS)} cannot be read: {error!r}") from None


@functools.cache
def exercises() -> tuple[Exercise, ...]:
    """All exercises in the order of their numbers, as a learner takes them. Raises InfrastructureError."""
    folders = [path.parent.name for path in paths.CHECKS.glob("*/exercise.toml") if FOLDER.fullmatch(path.parent.name)]
    return tuple(read(folder) for folder in sorted(folders))


def for_class() -> tuple[Exercise, ...]:
    """The exercises of a class where none are named: all except the warm-up."""
    return tuple(exercise for exercise in exercises() if not exercise.path.warm_up)


def find(name: str) -> Exercise:
    """The exercise with this number ("3", "03"), slug or folder name. Raises NoSuchExercise, with the nearest name."""
    text = name.strip().rstrip("/").rpartition("/")[2].lower()
    for exercise in exercises():
        if text in (exercise.folder, exercise.slug) or (text.isdigit() and int(text) == exercise.number):
            return exercise
    all_names = [name for exercise in exercises() for name in (exercise.slug, exercise.folder)]
    close = difflib.get_close_matches(text, all_names, n=1, cutoff=0.5)
    hint = f' Did you mean "{close[0]}"?' if close else ""
    raise NoSuchExercise(f'No exercise is called "{name}".{hint}')


def find_all(names: str | None) -> tuple[Exercise, ...]:
    """The exercises of "03", "3,softmax_naive" or "all", each once, in their order. Raises NoSuchExercise.

    "all", and no name, stand for the exercises of a class, without the warm-up.
    """
    words = (names or "").replace(",", " ").split()
    if not words or [word.lower() for word in words] == ["all"]:
        return for_class()
    requested = {find(word).folder for word in words}
    return tuple(exercise for exercise in exercises() if exercise.folder in requested)


def read(folder: str) -> Exercise:
    """One exercise from its exercise.toml. Raises InfrastructureError where that cannot be read."""
    path = paths.exercise_toml(folder)
    try:
        data = read_toml(path)
        wrong_ideas = data.get("misconceptions", {}).items()
        return Exercise(
            folder,
            title=data["title"],
            points={name: float(value) for name, value in data["points"].items()},
            limits=Limits(**data.get("limits", {}), needs=project.known_needs(data.get("needs", []))),
            forbidden=tuple(_forbidden(entry) for entry in data.get("forbidden", ())),
            hidden_points=float(data.get("hidden_points", 0)),
            misconceptions=tuple(Misconception(id, lesson=folder[:2], **row) for id, row in wrong_ideas),
            waits={int(task): str(reason) for task, reason in data.get("waits", {}).items()},
            **{name: str(data.get(name, "")) for name in ("trains", "device", "writes")},
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InfrastructureError(f"{paths.shown(path)} cannot be read: {error!r}") from None


def _numbers(span: str) -> tuple[str, ...]:
    """The exercises of a path: "14" and "15" for "14-15", "33" for "33". Raises ValueError for anything else."""
    first, _, last = span.partition("-")
    return tuple(f"{number:02}" for number in range(int(first), int(last or first) + 1))


def _forbidden(entry: dict[str, Any]) -> Forbidden:
    """A rule from its table in exercise.toml. Raises ValueError or TypeError where it is malformed."""
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    rule = Forbidden(**fields)
    unknown = set(rule.allowed) - GROUPS.keys()
    if unknown or not rule.allowed:
        raise ValueError(f"allowed = {list(rule.allowed)}: the groups are {', '.join(GROUPS)}")
    return rule
