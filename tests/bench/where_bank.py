"""The bank of cases of `make bench WHAT=where`: right files with one known mistake or two, and others' files.

Each known mistake of one change is carried into the solution, and into right answers of other styles where the changed
code occurs too, up to names. Others' files are the wrong ones of peer_variants.toml.
"""

import argparse
import ast
import contextlib
import difflib
import functools
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import sources
from where_carrying import carried, changed_part

from grader import catalog
from grader.catalog import mistakes, paths
from grader.judge.examiner import Examiner
from grader.judge.session import Session
from grader.records.results import Settings
from grader.sandbox.forkserver import ForkServer

SEED = 5  # unless another one is asked for


def asked(description: str, what: str, most: int) -> tuple[argparse.Namespace, Sequence[catalog.Exercise]]:
    """The options of a command line, and the exercises that they name. what: is drawn, so many of each exercise."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--ex", default="all", help="exercises, as in 06,13")
    parser.add_argument("--most", type=int, default=most, help=f"{what} for each exercise; 0: all")
    parser.add_argument("--seed", type=int, default=SEED, help=f"which {what} are drawn")
    options = parser.parse_args()
    is_all = options.ex == "all"
    return options, catalog.exercises() if is_all else [catalog.find(name) for name in options.ex.split(",")]


@contextlib.contextmanager
def examiner_of(exercise: catalog.Exercise, fork_server: ForkServer) -> Iterator[Examiner]:
    """An examiner for many files of an exercise."""
    with Session(exercise, SEED) as session:
        examiner = Examiner(session, fork_server, Settings(seed=SEED, reveal=False))
        examiner.has_more = True
        yield examiner


@dataclass(frozen=True)
class Case:
    """A file with mistakes. base: the right file's name; truths: the changed lines, for each mistake.

    names: of the known mistakes; () for a file of others.
    """

    exercise: catalog.Exercise
    base: str
    names: tuple[str, ...]
    source: str
    truths: tuple[frozenset[int], ...]


def bank(exercise: catalog.Exercise, most: int, seed: int) -> dict[str, list[Case]]:
    """The cases by kind: "solution", "styles", "pairs", "others".

    most: of each of the first three, drawn with the seed; 0 for all.
    """
    rng = random.Random(seed)
    solution = paths.solution(exercise.folder)
    bases = {"solution": [solution], "styles": list(paths.styles(exercise.folder))}
    cases: dict[str, list[Case]] = {}
    for kind, files in bases.items():
        found_cases = [case for file in files for case in singles(exercise, file)]
        rng.shuffle(found_cases)
        cases[kind] = found_cases[:most] if most else found_cases
    all_cases = [case for file in (solution, *bases["styles"]) for case in singles(exercise, file)]
    pairs = [*filter(None, itertools.starmap(pair, itertools.combinations(all_cases, 2)))]
    rng.shuffle(pairs)
    cases["pairs"] = pairs[:most] if most else pairs
    cases["others"] = list(others(exercise))
    return cases


def others(exercise: catalog.Exercise) -> Iterator[Case]:
    """The wrong files of this exercise that others wrote."""
    right = bare(paths.solution(exercise.folder).read_text("utf-8"))
    for row in sources.rows("peer_variants.toml"):
        if row["exercise"] == exercise.folder[:2]:
            wrong = bare(sources.written(row))
            yield Case(exercise, row["what"], (), wrong, (differing(right, wrong),))


def singles(exercise: catalog.Exercise, file: Path) -> Iterator[Case]:
    """Each mistake that can be put into this right file."""
    right, solution = bare(file.read_text("utf-8")), bare(paths.solution(exercise.folder).read_text("utf-8"))
    for mistake in mistakes.mistakes(exercise.folder):
        wrong = bare(mistake.source)
        if right == solution:
            yield Case(exercise, file.stem, (mistake.name,), wrong, (differing(right, wrong),))
            continue
        change = change_of(solution, wrong)
        source = carried(right, *change) if change is not None else None
        if source is not None and source != right:
            yield Case(exercise, file.stem, (mistake.name,), source, (differing(right, source),))


@functools.cache
def bare(source: str) -> str:
    """A source without comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree) + "\n"


@functools.cache
def change_of(solution: str, wrong: str) -> tuple[ast.AST, ast.AST] | None:
    """The part of the solution that the mistake changes, and what it becomes; see changed_part."""
    return changed_part(ast.parse(solution), ast.parse(wrong))


def pair(first: Case, second: Case) -> Case | None:
    """Both mistakes in one file; None where they do not change different lines of it."""
    first_truth, second_truth = first.truths[0], second.truths[0]
    if first.base != second.base or first.names == second.names or min(first_truth) == min(second_truth):
        return None
    lines, second_lines = first.source.splitlines(), second.source.splitlines()
    if len(lines) != len(second_lines) or any(abs(a - b) < 2 for a in first_truth for b in second_truth):
        return None
    for number in second_truth & set(range(1, len(lines) + 1)):
        lines[number - 1] = second_lines[number - 1]
    names, truths = (*first.names, *second.names), (*first.truths, *second.truths)
    return Case(first.exercise, first.base, names, "\n".join(lines) + "\n", truths)


def differing(right: str, wrong: str) -> frozenset[int]:
    """The lines of the wrong file that differ from the right one, or that follow a removed part."""
    matcher = difflib.SequenceMatcher(None, right.splitlines(), wrong.splitlines(), autojunk=False)
    lines: set[int] = set()
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind != "equal":
            lines |= set(range(start + 1, max(end, start + 1) + 1))
    return frozenset(lines)
