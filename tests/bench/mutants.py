"""Grades files with one change each of the solution: `make bench WHAT=mutants EX=06 [MOST=100 SEED=5]`.

Lists those that the grader accepts: each is as right as the solution, or a check is missing. Lists the sentences of two
mistakes, and of a mistake that changes other lines: is the sentence true of the file?
"""

import difflib
import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from where_bank import asked, bare, differing, examiner_of

from grader import catalog
from grader.catalog import mistakes, paths
from grader.judge.grading import final
from grader.judge.where.edits import Scope, Tree
from grader.judge.where.expressions import expression_edits
from grader.judge.where.statements import statement_edits
from grader.records.results import AND
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer


def main() -> None:
    options, chosen = asked(__doc__, "changes", 100)
    with ForkServer() as fork_server:
        for exercise in chosen:
            sources = list(mutants(exercise, options.most, options.seed))
            found = list(remarkable(exercise, sources, fork_server))
            accepted = sum(not sentence for _, sentence in found)
            read = f"{accepted} accepted, {len(found) - accepted} with a sentence to be read"
            print(f"{exercise.folder}: {len(sources)} changes, {read}", flush=True)
            for source, sentence in found:
                print(f"  {change_of(exercise, source)}\n      {sentence or 'accepted'}")


def mutants(exercise: catalog.Exercise, most: int, seed: int) -> Iterator[str]:
    """The solution with one change each, drawn with the seed."""
    right = solution_of(exercise)
    tree, changed = Tree(right), {}
    for unit in tree.units:
        scope = Scope.of(unit)
        for edit in (*expression_edits(unit.node, scope), *statement_edits(unit.node, scope, unit.owner is not None)):
            changed[tree.changed(edit.changes, {unit.top})] = None
    sources = [source for source in changed if bare(source) != right]
    random.Random(seed).shuffle(sources)
    yield from sources[:most] if most else sources


def remarkable(exercise: catalog.Exercise, sources: list[str], fork_server: ForkServer) -> Iterator[tuple[str, str]]:
    """The files that are accepted, with "", and those that read a sentence of other lines or of two mistakes."""
    right = solution_of(exercise)
    lines = {mistake.sentence: differing(bare(mistake.source), right) for mistake in mistakes.mistakes(exercise.folder)}
    with examiner_of(exercise, fork_server) as examiner:
        for source in sources:
            result = final(examiner.examine(Submission(source, "x.py")))
            if result.status == "passed":
                yield source, ""
            sentences = {check.diagnosis for check in result.checks if check.diagnosis}
            own = differing(source, right)
            doubtful = [text for text in sentences if AND in text or (text in lines and not lines[text] & own)]
            if doubtful:
                yield source, min(doubtful)


def solution_of(exercise: catalog.Exercise) -> str:
    """The solution without comments and docstrings."""
    return bare(paths.solution(exercise.folder).read_text("utf-8"))


def change_of(exercise: catalog.Exercise, source: str) -> str:
    """The changed lines, as `- old  + new`."""
    lines = difflib.unified_diff(solution_of(exercise).splitlines(), source.splitlines(), lineterm="", n=0)
    return "  ".join(f"{line[0]} {line[1:].strip()}" for line in lines if line[:1] in "+-" and line[1:2] not in "+-")


if __name__ == "__main__":
    main()
