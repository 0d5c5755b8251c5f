"""The process that grades for a notebook, as the kernel sees it and from within."""

import secrets
from typing import Any

from grader import catalog
from grader.catalog.errors import InfrastructureError
from grader.desk import progress
from grader.desk.answering import Child, serve
from grader.records.results import Settings
from grader.records.safe_files import MAX_SOURCE
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer
from grader.warm import client

BROKEN = "The grader could not do its work: {}"
IDLE_S = 1800.0  # without a question, after which the process ends and gives its memory back


class GradingProcess(Child):
    """Started by the first question, or before it by `start`. It ends with the kernel, or when nobody asks for long."""

    def __init__(self) -> None:
        super().__init__(client.NOTEBOOK)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request: see `answer`. Where there is none, {"text"} that says why."""
        reply = self.exchange(request) or self.exchange(request)  # it may have ended since it was asked last
        return reply or {"text": BROKEN.format(self.last_words())}


def answer(request: dict, fork_server: ForkServer) -> dict:
    """{"text", "html"} for {"what", "exercise", "source", "name", "seed"}; "what" is "check", "plot" or "matrices"."""
    try:
        return _answer(request, fork_server)
    except InfrastructureError as error:
        return {"text": BROKEN.format(error)}


def main() -> int:
    """Answer requests until there are no more. Returns the exit code."""
    return serve(answer, IDLE_S)


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
