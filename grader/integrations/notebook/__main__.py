"""The process that grades for a notebook: reads one request from stdin, writes one answer to stdout, as JSON."""

import json
import os
import secrets
import sys

from grader import catalog
from grader.catalog.errors import InfrastructureError
from grader.desk import progress
from grader.records.submission import MAX_SOURCE, Submission
from grader.sandbox.forkserver import ForkServer


def answer(request: dict) -> dict:
    """{"text": …, "html": …} for {"what": "check", "plot" or "matrices", "exercise", "source", "name", "seed"}."""
    exercise = catalog.find(request["exercise"])
    if len(request["source"].encode()) > MAX_SOURCE:
        return {"text": f"{request['name']} holds too much code: {MAX_SOURCE >> 10} KiB is the limit."}
    handed_in = Submission(request["source"], request["name"])
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.integrations.notebook import display
        from grader.judge import capture, examiner

        if form := {"plot": display.pictures, "matrices": display.matrices}.get(request["what"]):
            return form(exercise, capture.capture_pictures(exercise, handed_in, fork_server))
        seed = request["seed"] if request["seed"] is not None else secrets.randbelow(1_000_000)
        result = examiner.grade(exercise, handed_in, fork_server, examiner.Settings(seed=seed))
        progress.note(result, kind=progress.NOTEBOOK)
        return display.verdict(
            result, capture.capture_pictures(exercise, handed_in, fork_server) if result.started else ()
        )


def main() -> None:
    request = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, sys.stderr  # whatever is printed meanwhile is no answer
    try:
        said = answer(request)
    except InfrastructureError as error:
        said = {"text": f"The grader could not do its work: {error}"}
    json.dump(said, out)
    out.flush()
    os._exit(0)  # torch takes a quarter of a second to end in good order, for nobody's use


if __name__ == "__main__":
    main()
