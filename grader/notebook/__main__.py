"""The process that grades for a notebook: reads one request from stdin, writes one answer to stdout, as JSON."""

import json
import os
import secrets
import sys

from grader import catalog, progress
from grader.nursery import InfrastructureError, Nursery
from grader.submission import MAX_SOURCE, Submission


def answer(request: dict) -> dict:
    """{"text": …, "html": …} for {"what": "check" or "plot", "exercise", "source", "name", "seed"}."""
    exercise = catalog.find(request["exercise"])
    if len(request["source"].encode()) > MAX_SOURCE:
        return {"text": f"{request['name']} holds too much code: {MAX_SOURCE >> 10} KiB is the limit."}
    handed_in = Submission(request["source"], request["name"])
    with Nursery() as nursery:  # it imports torch while this process does
        from grader import runner
        from grader.notebook import showing
        from grader.pictures import taking

        if request["what"] == "plot":
            return showing.pictures(exercise, taking.photograph(exercise, handed_in, nursery))
        seed = request["seed"] if request["seed"] is not None else secrets.randbelow(1_000_000)
        result = runner.grade(exercise, handed_in, nursery, runner.Settings(seed=seed))
        progress.note(result)
        return showing.verdict(result, taking.photograph(exercise, handed_in, nursery) if result.started else ())


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
