"""Slow work in a process of its own beside the watch: pictures, and the lesson's calls.

Drawing there neither waits for a grading nor disturbs its random numbers, and an error of it ends nobody. The second
page comes in well under a second.
"""

import io
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from grader import catalog, folders
from grader.catalog import Exercise, paths
from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.desk.answering import Child, serve
from grader.records import submission
from grader.sandbox.forkserver import ForkServer

PLOT, TRY, TRAIN = "plot", "try", "train"
KEYS = {PLOT: "g", TRY: "t", TRAIN: "w"}
NAMES = {PLOT: "picture", TRY: "example calls", TRAIN: "training"}
DOING = {PLOT: "drawing the picture", TRY: "running the example calls", TRAIN: "training the code"}
LONGEST_S = 90.0  # for one page; the first one waits for torch


@dataclass(frozen=True)
class Request:
    """One page. what: PLOT, TRY or TRAIN; colours: rich's name of what the terminal can show, None for none."""

    what: str
    folder: str
    width: int
    colours: Any = None


class Beside:
    """The process, from the watch's side."""

    def __init__(self, publish: Callable[[Request, str], None]) -> None:
        self.publish = publish  # called with the page, as text with escape codes, from a thread
        self.child = Child(folders.PAGES)
        self.waiting: Request | None = None
        self.since = 0.0  # of time.monotonic: when the page was asked for

    @property
    def seconds(self) -> float:
        """How long the page that is waited for has taken so far; 0 where none is."""
        return time.monotonic() - self.since if self.waiting else 0.0

    def ask(self, request: Request) -> None:
        """Ask for a page, unless one is being made."""
        if self.waiting is not None:
            return
        self.child.start()
        self.waiting, self.since = request, time.monotonic()
        threading.Thread(target=self._answer, args=(request,), daemon=True).start()

    def give_up_late(self) -> None:
        """End the process where a page takes too long; its reader then says that none came."""
        if self.seconds > LONGEST_S:
            self.child.kill()

    def _answer(self, request: Request) -> None:
        page = self.child.exchange(asdict(request))
        self.waiting = None
        late = f"There was nothing to show after {LONGEST_S:.0f} s, or the process that draws has ended."
        self.publish(request, late if page is None else page)


class DrawnPages:
    """The pages that were made, by kind and exercise, each with the source that it was made for."""

    def __init__(self, beside: Beside) -> None:
        self.beside, self.source = beside, ""
        self.later: tuple[Request, str] | None = None  # asked for while another page was being made, with its source
        self.known: dict[tuple[str, str], tuple[str, str]] = {}

    @property
    def words(self) -> str:
        """The work in progress, for the line of progress; "" where there is none."""
        request = self.beside.waiting
        if request is None:
            return ""
        return f"{DOING[request.what]} of {request.folder[:2]} … {self.beside.seconds:.0f} s"

    def page(self, kind: str, folder: str, source: str, console: Console) -> str:
        """The page, if it is there for this source. Else it is asked for, and "" returned."""
        made_for, text = self.known.get((kind, folder), ("", ""))
        if text and made_for == source:
            return text
        request = Request(kind, folder, console.width, console.color_system)
        if self.beside.waiting is None:
            self.source = source
            self.beside.ask(request)
        elif self.beside.waiting != request:
            self.later = request, source
        return ""

    def keep(self, request: Request, text: str) -> str:
        """Keep a page. Returns what to tell a learner who looks at something else by now."""
        self.known[request.what, request.folder] = (self.source, text)
        if self.later is not None:
            following, self.source = self.later
            self.later = None
            self.beside.ask(following)
        return f"{request.folder[:2]}: the {NAMES[request.what]} can be seen now, with the key {KEYS[request.what]}."


def page(request: Request, exercise: Exercise, fork_server: ForkServer) -> Sequence[RenderableType]:
    """The page as renderables."""
    from grader.desk import lesson, tryout
    from grader.judge import capture
    from grader.reports import heatmap

    try:
        submitted = submission.read(paths.stub(exercise.folder))
        if request.what == TRY:
            outcomes = tryout.run(exercise, submitted, lesson.examples(exercise.folder), fork_server)
            return tryout.page(exercise, outcomes, request.width)
        if request.what == TRAIN:
            from grader.desk import training

            file = io.StringIO()
            console = Console(file=file, width=request.width, force_terminal=False, color_system=request.colours)
            training.train(exercise, submitted, fork_server, training.Course(), console)
            return [Text.from_ansi(file.getvalue())]
        pictures = capture.capture_pictures(exercise, submitted, fork_server)
    except (WrongUse, NoSuchFile) as error:
        return [Text(str(error))]
    except BadSubmission as error:
        if request.what != PLOT:
            return [Text(str(error))]
        pictures = capture.blank(exercise, str(error))
    lines = heatmap.all_lines(pictures, request.width)
    return lines or [Text(f"{exercise.folder} has no picture.")]


def render(parts: Sequence[RenderableType], request: Request) -> str:
    """The page as text with escape codes."""
    file = io.StringIO()
    console = Console(
        file=file, width=request.width, height=1_000, highlight=False, markup=False, emoji=False,
        force_terminal=request.colours is not None, color_system=request.colours,
    )  # fmt: skip
    for part in parts:
        console.print(part, crop=False)
    return file.getvalue()


def answer(fields: dict[str, Any], fork_server: ForkServer) -> str:
    """The page that a request with these fields asks for, or a sentence on why there is none."""
    request = Request(**fields)
    try:
        return render(page(request, catalog.find(request.folder), fork_server), request)
    except Exception as error:  # a page is not worth more than a word about it
        return f"There is no {NAMES[request.what]}: {type(error).__name__}: {error}"


def main() -> int:
    """Draw pages until the watch ends. Returns the exit code."""
    return serve(answer)
