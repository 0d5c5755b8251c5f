"""How often the line that is told is the true one, and what the search costs: `make bench-where [EX=06,13]`.

The bank is made here: each known mistake of one change is carried into the solution and into right answers of other
styles wherever the changed code stands there too, up to names. The truth is the changed line. The mistake itself is
left out of the search, as a learner's is known to nobody. Pairs put two mistakes into one file.
"""

import argparse
import ast
import contextlib
import functools
import itertools
import random
import re
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from grader import catalog
from grader.catalog import mistakes, overlay, paths
from grader.judge.checker import Explained
from grader.judge.examiner import Examiner, Settings
from grader.judge.session import Session
from grader.judge.where import search
from grader.judge.where.trial import Trial
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer

NEAR = 1  # lines beside the changed one that count as true
SEED = 5


@dataclass(frozen=True)
class Case:
    """A file with mistakes in it. truths: of each mistake, the lines that differ from the right file."""

    exercise: catalog.Exercise
    base: str
    names: tuple[str, ...]
    source: str
    truths: tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Cost:
    """What one search took: seconds that passed, seconds of processor time with its workers', candidates."""

    seconds: float
    own_s: float
    tried: int


@contextlib.contextmanager
def counting(candidates: list[int]) -> Iterator[None]:
    """Meanwhile each search adds how many candidates it tried."""
    close = Trial.close
    Trial.close = lambda trial: candidates.append(trial.tried) or close(trial)
    try:
        yield
    finally:
        Trial.close = close


class Keeping(Examiner):
    """An examiner that keeps what the search needs of the last submission."""

    def sentences(self, failures, passed, *given):
        found = super().sentences(failures, passed, *given)
        self.last = failures, passed, found
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ex", default="all", help="exercises, as in 06,13")
    parser.add_argument("--most", type=int, default=12, help="cases of each kind for each exercise; 0: all")
    parser.add_argument("--seed", type=int, default=SEED, help="which cases are drawn")
    parser.add_argument("--kinds", default="solution,styles,pairs")
    parser.add_argument("--seconds", type=float, default=search.SECONDS, help="for one search; more on a busy machine")
    parser.add_argument("--within", type=float, default=2.0, help="seconds of processor time that a learner waits for")
    parser.add_argument("--named", action="store_true", help="do not leave the mistake out of the diagnosis")
    parser.add_argument("--verbose", action="store_true", help="one line for each case that is not true")
    options = parser.parse_args()
    chosen = catalog.exercises() if options.ex == "all" else [catalog.find(one) for one in options.ex.split(",")]
    totals: dict[str, Counter] = defaultdict(Counter)
    costs: list[Cost] = []
    with ForkServer() as fork_server:
        for exercise in chosen:
            for kind, cases in bank(exercise, options.most, options.seed).items():
                if kind in options.kinds.split(","):
                    counted = measure(exercise, cases, fork_server, costs, options)
                    totals[kind] += counted
                    print(f"{exercise.folder:34} {kind:9} {told(counted)}", flush=True)
    for kind, counted in totals.items():
        print(f"{'all':34} {kind:9} {told(counted)}")
    if costs:
        passed, own = spread([cost.seconds for cost in costs]), spread([cost.own_s for cost in costs])
        candidates = statistics.median(cost.tried for cost in costs)
        print(f"search: {passed}; of processor time {own}; candidates: median {candidates:.0f}")


def spread(seconds: list[float]) -> str:
    tenth = sorted(seconds)[int(0.9 * len(seconds))]
    return f"median {1000 * statistics.median(seconds):.0f} ms, nine of ten below {1000 * tenth:.0f} ms"


def told(counted: Counter) -> str:
    number = counted["cases"] or 1
    if counted["pairs"]:
        one, both = counted["one"] / number, counted["both"] / number
        stray = counted["false"] / number
        return f"{number:4} pairs: one of the lines {one:.0%}, both {both:.0%}, a false line {stray:.0%}"
    shares = {name: counted[name] / number for name in ("true", "false", "definition", "wrong definition", "nothing")}
    shown = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    return f"{number:4} cases: {shown}; true in time {counted['in time'] / number:.0%}"


def bank(exercise: catalog.Exercise, most: int, seed: int) -> dict[str, list[Case]]:
    rng = random.Random(seed)
    solution = paths.solution(exercise.folder)
    bases = {"solution": [solution], "styles": list(paths.styles(exercise.folder))}
    cases: dict[str, list[Case]] = {}
    for kind, files in bases.items():
        found = [case for file in files for case in singles(exercise, file)]
        rng.shuffle(found)
        cases[kind] = found[:most] if most else found
    every = [case for file in (solution, *bases["styles"]) for case in singles(exercise, file)]
    both = [case for one, two in itertools.combinations(every, 2) if (case := pair(one, two)) is not None]
    rng.shuffle(both)
    cases["pairs"] = both[:most] if most else both
    return cases


def singles(exercise: catalog.Exercise, file: Path) -> Iterator[Case]:
    """Each mistake in this right file."""
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
    return changed_part(ast.parse(solution), ast.parse(wrong))


def pair(one: Case, two: Case) -> Case | None:
    """Two mistakes in one file, where they change different lines of it."""
    if one.base != two.base or one.names == two.names or min(one.truths[0]) == min(two.truths[0]):
        return None
    first, second = one.source.splitlines(), two.source.splitlines()
    if len(first) != len(second) or any(abs(a - b) < 2 for a in one.truths[0] for b in two.truths[0]):
        return None
    merged = [b if number in two.truths[0] else a for number, (a, b) in enumerate(zip(first, second), 1)]
    return Case(one.exercise, one.base, (*one.names, *two.names), "\n".join(merged) + "\n", (*one.truths, *two.truths))


def changed_part(right: ast.AST, wrong: ast.AST) -> tuple[ast.AST, ast.AST] | None:
    """The smallest part that differs and what it became; None where several places differ.

    A run of statements comes as a Module that holds them, with the statement before it where nothing else is there.
    """
    if type(right) is not type(wrong):
        return right, wrong
    parts: list[tuple[ast.AST, ast.AST]] = []
    for field in right._fields:
        mine, other = getattr(right, field, None), getattr(wrong, field, None)
        if isinstance(mine, list) and isinstance(other, list) and len(mine) == len(other):
            parts += [(a, b) for a, b in zip(mine, other) if dumped(a) != dumped(b)]
        elif isinstance(mine, list) and isinstance(other, list) and mine and isinstance(mine[0], ast.stmt):
            parts.append(run_of_statements(mine, other))
        elif dumped(mine) != dumped(other):
            if not (isinstance(mine, ast.AST) and isinstance(other, ast.AST)):
                return right, wrong
            parts.append((mine, other))
    if len(parts) != 1:
        return None if isinstance(right, (ast.Module, ast.ClassDef, ast.FunctionDef)) else (right, wrong)
    if isinstance(parts[0][0], (ast.operator, ast.cmpop, ast.unaryop, ast.boolop, ast.expr_context)):
        return right, wrong
    return parts[0] if isinstance(parts[0][0], ast.Module) else changed_part(*parts[0])


def run_of_statements(mine: list, other: list) -> tuple[ast.AST, ast.AST]:
    start = next((n for n, (a, b) in enumerate(zip(mine, other)) if dumped(a) != dumped(b)), min(len(mine), len(other)))
    end = 0
    while end < min(len(mine), len(other)) - start and dumped(mine[-1 - end]) == dumped(other[-1 - end]):
        end += 1
    start -= start > 0 and start == len(mine) - end
    return ast.Module(mine[start : len(mine) - end], []), ast.Module(other[start : len(other) - end], [])


def dumped(node: object) -> str:
    return ast.dump(node) if isinstance(node, ast.AST) else repr(node)


def carried(source: str, old: ast.AST, new: ast.AST) -> str | None:
    """The source with the first place that is `old`, up to names, turned into `new`; None where there is none.

    A change of a whole function is not carried: it would replace the style.
    """
    if isinstance(old, (ast.FunctionDef, ast.ClassDef, ast.arguments)) or size(old) < 2:
        return None
    tree, statements = ast.parse(source), isinstance(old, ast.Module)
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns"):  # it says nothing to Python
                continue
            many = isinstance(value, list)
            for index, item in enumerate(value) if many else [(None, value)]:
                length = len(old.body) if statements else 1
                place = value[index : index + length] if many else [item]
                names: dict[str, str] = {}
                if not alike(old.body if statements else [old], place, names):
                    continue
                put = [renamed(node, names) for node in (new.body if statements else [new])]
                if None in put:
                    continue
                if many:
                    value[index : index + length] = put
                else:
                    setattr(parent, field, put[0])
                try:
                    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
                except ValueError:
                    return None
    return None


def size(node: ast.AST) -> int:
    return sum(1 for part in ast.walk(node) if isinstance(part, (ast.expr, ast.stmt)))


def alike(old: object, other: object, names: dict[str, str]) -> bool:
    """Whether two trees are equal up to the names of variables."""
    if isinstance(old, ast.Name) and isinstance(other, ast.Name):
        known = names.setdefault(old.id, other.id)
        return known == other.id
    if isinstance(old, list) and isinstance(other, list):
        return len(old) == len(other) and all(alike(a, b, names) for a, b in zip(old, other))
    if isinstance(old, ast.AST) and type(old) is type(other):
        return all(alike(getattr(old, f, None), getattr(other, f, None), names) for f in old._fields)
    return not isinstance(old, ast.AST) and old == other


def renamed(new: ast.AST, names: dict[str, str]) -> ast.AST | None:
    """A copy with the other file's names; None where it needs one that was not met."""
    try:
        copy = ast.parse(ast.unparse(new))
    except SyntaxError:
        return None
    for node in ast.walk(copy):
        if isinstance(node, ast.Name):
            known = {
                "torch",
                "self",
                "math",
                "nn",
                "F",
                "sorted",
                "len",
                "range",
                "float",
                "set",
                "int",
                "print",
                "ValueError",
            }
            if node.id not in names and node.id not in known:
                return None
            node.id = names.get(node.id, node.id)
    first = copy.body[0]
    return first.value if isinstance(new, ast.expr) and isinstance(first, ast.Expr) else first


def differing(right: str, wrong: str) -> frozenset[int]:
    """The lines of the wrong file that differ from the right one, or stand beside what was taken out."""
    import difflib

    matcher = difflib.SequenceMatcher(None, right.splitlines(), wrong.splitlines(), autojunk=False)
    lines: set[int] = set()
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind != "equal":
            lines |= set(range(start + 1, max(end, start + 1) + 1))
    return frozenset(lines)


def measure(exercise, cases: list[Case], fork_server, costs: list, options) -> Counter:
    counted: Counter = Counter()
    candidates: list[int] = []  # of one search
    with Session(exercise, SEED) as session, counting(candidates):
        examiner = Keeping(session, fork_server, Settings(seed=SEED, reveal=False))
        examiner.record_requests()
        for case in cases:
            submission = Submission(case.source, "x.py")
            examiner.last = {}, set(), {}
            result = examiner.examine(submission)
            failures, passed, diagnoses = examiner.last
            if result.status != "failed" or not failures:
                continue  # the change does no harm in this style
            without = "" if options.named else case.names[0]
            if not options.named:
                sentences = {one.sentence for one in mistakes.mistakes(exercise.folder) if one.name in case.names}
                diagnoses = {name: text for name, text in diagnoses.items() if not any(s in text for s in sentences)}
            candidates.clear()
            began, began_s = time.perf_counter(), processor_s(fork_server)
            explained = Explained(failures, passed, diagnoses, session.checks)
            found = search.places(examiner, submission, explained, options.seconds, without)
            cost = Cost(time.perf_counter() - began, processor_s(fork_server) - began_s, sum(candidates))
            costs.append(cost)
            verdict = count(case, found, counted)
            counted["in time"] += not verdict and cost.own_s <= options.within
            how = "/".join(sorted({place.how for place in found.values()})) or "nothing"
            counted[f"{how}: {verdict or 'true'}"] += 1
            if options.verbose and verdict:
                print(f"  {verdict}: {case.base} {case.names} truth {sorted(map(sorted, case.truths))}", end=" ")
                print(f"{cost.own_s:.1f} s, {cost.tried} tried,", end=" ")
                print(sorted({(place.how, place.lines, place.sentence) for place in found.values()}))
    return counted


def processor_s(fork_server: ForkServer) -> float:
    """Seconds of processor time of this process and of the workers that have ended."""
    spent = fork_server.spent
    return time.process_time() + spent.fork + spent.kernel + spent.code + spent.stopped


def count(case: Case, found: dict, counted: Counter) -> str:
    """Count one case. Returns what is not as it should be."""
    counted["cases"] += 1
    told_lines = [place.lines for place in found.values() if place.lines]
    hits = [any(near(lines, truth) for lines in told_lines) for truth in case.truths]
    stray = [lines for lines in told_lines if not any(near(lines, truth) for truth in case.truths)]
    if len(case.truths) > 1:
        counted["pairs"] += 1
        counted["one"] += any(hits)
        counted["both"] += all(hits)
        counted["false"] += bool(stray)
        return "" if all(hits) and not stray else "false" if stray else "not both"
    if stray:
        counted["false"] += 1
        return "false"
    if hits[0]:
        counted["true"] += 1
        return ""
    if not found:
        counted["nothing"] += 1
        return "nothing"
    true = [name for name, node in overlay.definitions(case.source).items() if inside(case.truths[0], node)]
    names = "|".join(rf"\b{name}\b|the class {name.partition('.')[0]}\b" for name in true)
    right = all(re.search(names, place.sentence) for place in found.values())
    counted["definition" if right else "wrong definition"] += 1
    return "definition" if right else "wrong definition"


def near(lines: tuple[int, ...], truth: frozenset[int]) -> bool:
    return any(abs(line - one) <= NEAR for line in lines for one in truth)


def inside(lines: frozenset[int], node: ast.AST) -> bool:
    return any(node.lineno <= line <= node.end_lineno for line in lines)


if __name__ == "__main__":
    main()
