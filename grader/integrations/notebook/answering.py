"""The process that grades for a notebook: requests come from stdin, answers go to stdout, each a line of JSON."""

import json
import secrets
import select
import sys
from typing import Any

from grader import catalog
from grader.catalog import errors
from grader.catalog.errors import InfrastructureError
from grader.desk import progress
from grader.records.results import ExerciseResult
from grader.records.safe_files import MAX_SOURCE
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer

IDLE_S = 1800.0  # without a question, after which the process ends and gives its memory back


def answer(request: dict, fork_server: ForkServer) -> dict:
    """{"text", "html"} for {"what", "exercise", "source", "name", "seed"}; "what" is "check", "plot" or "matrices".

    Raises InfrastructureError where the grader cannot do its work.
    """
    exercise = catalog.find(request["exercise"])
    if len(request["source"].encode()) > MAX_SOURCE:
        return {"text": f"{request['name']} holds too much code: {MAX_SOURCE >> 10} KiB is the limit."}
    handed_in = Submission(request["source"], request["name"])
    from grader.integrations.notebook import display
    from grader.judge import capture, examiner

    if form := {"plot": display.pictures, "matrices": display.matrices}.get(request["what"]):
        return form(exercise, capture.capture_pictures(exercise, handed_in, fork_server))
    seed = request["seed"] if request["seed"] is not None else secrets.randbelow(1_000_000)
    result = examiner.grade(exercise, handed_in, fork_server, examiner.Settings(seed=seed), _located)
    progress.note(result, kind=progress.NOTEBOOK)
    return display.verdict(result, capture.capture_pictures(exercise, handed_in, fork_server) if result.started else ())


def _located(judge: Any, handed_in: Submission, verdict: ExerciseResult) -> ExerciseResult:
    """The verdict with the cells and lines that the learner should look at."""
    from grader.judge.where import search

    return search.located(judge, handed_in, verdict) if verdict.status == "failed" else verdict


def main() -> int:
    """Answer requests until there are no more. Returns the exit code."""
    out, sys.stdout = sys.stdout, sys.stderr  # so that nothing printed meanwhile mixes with the answers
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.judge import examiner  # noqa: F401

        while select.select([sys.stdin], [], [], IDLE_S)[0] and (line := sys.stdin.readline()):
            try:
                reply = answer(json.loads(line), fork_server)
            except InfrastructureError as error:
                reply = {"text": f"The grader could not do its work: {error}"}
            print(json.dumps(reply), file=out, flush=True)
    return errors.PASSED
