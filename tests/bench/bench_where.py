"""How often the reported line is the true one, and what the search costs: `make bench WHAT=where [EX=06,13]`.

The cases are those of where_bank.py. The truth is the line that the mistake changes. A known mistake is left out of the
search, as if nobody had written it down.
"""

import argparse
import contextlib
import datetime
import json
import os
import re
import statistics
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from where_bank import Case, asked, bank, examiner_of

from grader.authoring import how_we_know
from grader.catalog import mistakes, patches, paths
from grader.judge.grading import final
from grader.judge.where import search
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer

NEAR = 1  # lines beside the changed one that count as true
WAIT_S = 2.0  # of processor time, what a learner waits for


def main() -> None:
    options, chosen = asked(__doc__, "cases of each kind", 12)
    totals: dict[str, Counter] = defaultdict(Counter)
    costs: list[float] = []  # the processor seconds of each search
    with ForkServer() as fork_server:
        for exercise in chosen:
            for kind, cases in bank(exercise, options.most, options.seed).items():
                counted = measure(exercise, cases, fork_server, costs)
                totals[kind] += counted
                print(f"{exercise.folder:34} {kind:9} {rates(counted)}", flush=True)
    for kind, counted in totals.items():
        print(f"{'all':34} {kind:9} {rates(counted)}")
    if options.ex == "all":
        record(totals, len(chosen), options)
    if costs:
        median, tenth = statistics.median(costs), sorted(costs)[int(0.9 * len(costs))]
        print(f"search: median {1000 * median:.0f} ms, nine of ten below {1000 * tenth:.0f} ms of processor time")


def record(totals: dict[str, Counter], exercises: int, options: argparse.Namespace) -> None:
    """Write the figures down with their date, and make the page again that shows them."""
    figures = {kind: {name: counted[name] for name in how_we_know.COUNTED[kind]} for kind, counted in totals.items()}
    facts = {"date": datetime.date.today().isoformat(), "exercises": exercises, "most": options.most}
    facts |= {"seed": options.seed, "kinds": figures}
    paths.BENCH_WHERE.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    paths.HOW_WE_KNOW.write_text(how_we_know.page(), "utf-8")
    print(f"These figures are in {paths.shown(paths.BENCH_WHERE)} and {paths.shown(paths.HOW_WE_KNOW)} now.")


def rates(counted: Counter) -> str:
    total = counted["cases"] or 1
    if counted["pairs"]:
        one_line, both_lines = counted["one"] / total, counted["both"] / total
        false_line = counted["false"] / total
        return f"{total:4} pairs: one of the lines {one_line:.0%}, both {both_lines:.0%}, a false line {false_line:.0%}"
    shares = {name: counted[name] / total for name in ("true", "false", "definition", "wrong definition", "nothing")}
    texts = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
    return f"{total:4} cases: {texts}; true in time {counted['in time'] / total:.0%}"


def measure(exercise, cases: list[Case], fork_server, costs: list) -> Counter:
    counted: Counter = Counter()
    with examiner_of(exercise, fork_server) as examiner:
        for case in cases:
            submission = Submission(case.source, "x.py")
            result = final(examiner.examine(submission))
            if result.status != "failed" or examiner.explained is None:
                continue  # the change does no harm in this style
            own = {one.sentence for one in mistakes.mistakes(exercise.folder) if one.name in case.names}
            diagnoses = examiner.explained.diagnoses.items()
            others = {name: text for name, text in diagnoses if not any(sentence in text for sentence in own)}
            explained = replace(examiner.explained, diagnoses=others)
            before = processor_s()
            places = search.places(examiner, submission, explained, search.WORK, case.names[0] if case.names else "")
            costs.append(processor_s() - before)
            counted["in time"] += count(case, places, counted) and costs[-1] <= WAIT_S
    return counted


def processor_s() -> float:
    """Seconds of processor time of this process, of the fork servers below it, and of their workers that have ended."""
    fields = {}  # of each process, as proc_pid_stat(5) numbers them from the third on
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields[int(path.parent.name)] = path.read_bytes().rpartition(b")")[2].split()
    family = {os.getpid()}
    for _ in range(4):  # bubblewrap is two processes between this one and the fork server, whose workers come last
        family |= {pid for pid, of_pid in fields.items() if int(of_pid[1]) in family}
    ticks = sum(int(ticks) for pid in family for ticks in fields[pid][11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def count(case: Case, places: dict, counted: Counter) -> bool:
    """Count one case. Returns whether each true line is found, and no other."""
    counted["cases"] += 1
    reported_lines = [place.lines for place in places.values() if place.lines]
    hit_truths = [any(is_near(lines, truth) for lines in reported_lines) for truth in case.truths]
    false_lines = [lines for lines in reported_lines if not any(is_near(lines, truth) for truth in case.truths)]
    if len(case.truths) > 1:
        counted["pairs"] += 1
        counted["one"] += any(hit_truths)
        counted["both"] += all(hit_truths)
        counted["false"] += bool(false_lines)
    elif false_lines:
        counted["false"] += 1
    elif hit_truths[0]:
        counted["true"] += 1
    elif not places:
        counted["nothing"] += 1
    else:
        counted["definition" if names_definition(case, places) else "wrong definition"] += 1
    return all(hit_truths) and not false_lines


def names_definition(case: Case, places: dict) -> bool:
    """Whether each sentence names a function or class that the mistake changes."""
    changed = [
        name
        for name, node in patches.definitions(case.source).items()
        if any(node.lineno <= line <= node.end_lineno for line in case.truths[0])
    ]
    names = "|".join(rf"\b{name}\b|the class {name.partition('.')[0]}\b" for name in changed)
    return all(re.search(names, place.sentence) for place in places.values())


def is_near(lines: tuple[int, ...], truth: frozenset[int]) -> bool:
    return any(abs(line - true_line) <= NEAR for line in lines for true_line in truth)


if __name__ == "__main__":
    main()
