"""How often two mistakes in one file are both named. `python tests/bench/pairs.py [EX] [PAIRS] [SEED] [-v]` prints it.

Pairs of known mistakes that do not touch the same tokens are merged and graded, in a row an exercise. A pair of which
one mistake hides the other (every answer is that of one alone) says nothing of the diagnosis and is counted apart.
EX may be "all"; the seed draws the pairs and the inputs; -v prints what is said of the pairs that are not both named.
"""

import random
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader import catalog
from grader.catalog import mistakes, patches, paths
from grader.judge import grading
from grader.records.results import FAILED, Settings
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer

OUTCOMES = ("both", "one", "none", "hidden")


def main() -> None:
    given = [word for word in sys.argv[1:] if word != "-v"]
    wanted, count, seed = (*given, *("all", "30", "1")[len(given) :])
    total: Counter[str] = Counter()
    print("| exercise | " + " | ".join(OUTCOMES) + " |")
    with ForkServer() as fork_server:
        for exercise in catalog.exercises():
            if wanted == "all" or exercise.folder.startswith(wanted):
                found = measure(exercise, int(count), int(seed), fork_server)
                total += found
                print(f"| {exercise.folder} | " + " | ".join(str(found[name]) for name in OUTCOMES) + " |", flush=True)
    told = total["both"] + total["one"] + total["none"]
    print(f"both are named in {total['both']} of {told} pairs ({total['both'] / max(told, 1):.0%})")


def measure(exercise, count: int, seed: int, fork_server: ForkServer) -> Counter[str]:
    """The outcomes of up to `count` pairs of an exercise, drawn with one seed."""
    solution = paths.solution(exercise.folder).read_text("utf-8")
    chosen = pairs(exercise.folder, solution, count, seed)
    found: Counter[str] = Counter()

    def count(one: Submission, result) -> None:
        names = [named(mistake, result) for mistake in chosen[int(one.filename)][0]]
        masked = any(alone(exercise.folder, mistake, result) for mistake in chosen[int(one.filename)][0])
        outcome = "hidden" if masked else ("none", "one", "both")[sum(names)]
        found[outcome] += 1
        if "-v" in sys.argv and outcome in ("none", "one"):
            said = {check.diagnosis for check in result.checks if check.outcome == FAILED}
            print(outcome, [mistake.name for mistake in chosen[int(one.filename)][0]], said)

    handed_in = [Submission(source, str(number)) for number, (_, source) in enumerate(chosen)]
    for one, result in zip(handed_in, grading.results(exercise, handed_in, fork_server, Settings(seed=seed))):
        count(one, result)
    return found


def pairs(folder: str, solution: str, count: int, seed: int) -> list[tuple]:
    """Up to `count` pairs of mistakes with the source that makes both."""
    every = list(combinations(mistakes.mistakes(folder), 2))
    random.Random(seed).shuffle(every)
    chosen = []
    for one, other in every:
        source = patches.merge(solution, one.source, other.source)
        if source is not None and len(chosen) < count:
            chosen.append(((one, other), source))
    return chosen


def named(mistake, result) -> bool:
    return any(mistake.sentence in (check.diagnosis or "") for check in result.checks)


def alone(folder: str, mistake, result) -> bool:
    """Whether the file answers as this mistake alone would."""
    failed = {check.id: check.diagnosis for check in result.checks if check.outcome == FAILED}
    known = mistakes.failed_checks(folder)[mistake.name].failed
    return set(failed) == set(known) and set(failed.values()) == {mistake.sentence}


if __name__ == "__main__":
    main()
