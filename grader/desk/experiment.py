"""The experiment of a lesson: its script is run in a process of its own, and its table is shown with bars.

A script measures one claim of its lesson. A learner may change it: its numbers are nobody's grade.
"""

import contextlib
import json
import math
import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.catalog import Exercise, paths
from grader.catalog.errors import WrongUse

TIMEOUT_S = 120
WIDTH = 76  # columns of the table with its bars
GAP = "  "
DIGITS = 4  # of the largest number of a column
LONG = 1e6  # a number from here on is written as 1.0e+06
EIGHTHS = " ▏▎▍▌▋▊▉"
# Python would search the working folder for modules first, where a hand-in may be called torch.py.
START = """
import sys
sys.path[0] = sys.argv.pop(1)
import runpy
runpy.run_module("grader.desk.experiment", run_name="__main__")
"""
Cell = float | str
NAMES = ("measure", "claim", "PLOT", "CLAIM")  # what a script defines, beside its docstring


@dataclass(frozen=True)
class Experiment:
    """A measurement. rows: the cells of each row by column; plot: the column that is drawn as bars."""

    question: str
    rows: tuple[dict[str, Cell], ...]
    plot: str
    claim: str
    holds: bool


def run(exercise: Exercise) -> Experiment:
    """Run the experiment of an exercise. Raises WrongUse where it has none or its script does not work."""
    script = paths.experiment(exercise.folder)
    shown_path = paths.shown(script)
    if not script.exists():
        raise WrongUse(
            f"{exercise.folder} has no experiment: {shown_path} is not there. Others have: make experiment EX=02"
        )
    command = [sys.executable, "-c", START, str(paths.ROOT), str(script)]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=_environment())
    except subprocess.TimeoutExpired:
        raise WrongUse(f"{shown_path} took more than {TIMEOUT_S} seconds. Measure less in it, and try again.") from None
    output_lines = process.stdout.splitlines()
    if not output_lines:
        raise WrongUse(f"{shown_path} ended before it had measured anything.\n{process.stderr.strip()[-500:]}".strip())
    data = json.loads(output_lines[-1])
    if "error" in data:
        place = f"{shown_path}:{data['line']}" if data["line"] else shown_path
        raise WrongUse(f"The experiment broke off at {place}\n{data['error']}")
    return of(data)


def measure(exercise: Exercise, arguments: Sequence[str]) -> int:
    """Run measure_NAME.py beside a lesson, in the learner's terminal: NAME, then its arguments. Returns its exit code.

    Raises WrongUse if there is no such script.
    """
    name, *rest = arguments
    scripts = {path.stem.removeprefix("measure_"): path for path in paths.measuring(exercise.folder)}
    if name not in scripts:
        others = f"It has: {', '.join(sorted(scripts))}" if scripts else "It has none."
        raise WrongUse(f"{exercise.folder} has no measure_{name}.py. {others}")
    return subprocess.run([sys.executable, str(scripts[name]), *rest], env=_environment()).returncode


def of(data: dict) -> Experiment:
    """An experiment from what grader.desk.experiment.measured gives."""
    return Experiment(data["question"], tuple(data["rows"]), data["plot"], data["claim"], data["holds"])


def lines(experiment: Experiment) -> list[str]:
    """The table, a heading and a line for each row with its bar, none wider than WIDTH. Above the bars their column."""
    names = list(experiment.rows[0])
    columns = [cells([row[name] for row in experiment.rows]) for name in names]
    heads = _heads(names)
    sizes = [max(map(len, [*head, *column])) for head, column in zip(zip(*heads), columns)]
    room = WIDTH - sum(size + len(GAP) for size in sizes)
    labels = [isinstance(experiment.rows[0][name], str) for name in names]
    table = [_row(line, sizes, labels) for line in [*heads, *zip(*columns)]]
    values = [row[experiment.plot] for row in experiment.rows]
    named = experiment.plot if len(experiment.plot) <= room else ""
    drawn = [""] * (len(heads) - 1) + [named, *bars(values, room)]
    return [f"{text}{GAP}{bar}".rstrip() for text, bar in zip(table, drawn)]


def drawn(experiment: Experiment) -> dict[str, Any]:
    """The same as a template takes it: question, names, rows of (cells, share of the largest bar), claim, verdict."""
    names = list(experiment.rows[0])
    columns = [cells([row[name] for row in experiment.rows]) for name in names]
    values = [row[experiment.plot] for row in experiment.rows]
    facts = {"question": experiment.question, "names": names, "rows": list(zip(zip(*columns), shares(values)))}
    return facts | {"plot": experiment.plot, "claim": experiment.claim, "verdict": verdict(experiment)}


def markdown(experiment: Experiment) -> str:
    """The table as a lesson prints it, in Markdown."""
    names = list(experiment.rows[0])
    columns = [cells([row[name] for row in experiment.rows]) for name in names]
    marks = ["---" if isinstance(experiment.rows[0][name], str) else "---:" for name in names]
    return "".join(f"| {' | '.join(row)} |\n" for row in [names, marks, *zip(*columns)])


def verdict(experiment: Experiment) -> str:
    """The lines that say whether the measurement bears the claim out."""
    return "measured: holds" if experiment.holds else "measured: does not hold"


def cells(values: Sequence[Cell]) -> list[str]:
    """A column as text: words as they are, numbers with one count of decimals where that shows each, else shortened."""
    numbers = [value for value in values if not isinstance(value, str) and math.isfinite(value)]
    sizes = [abs(number) for number in numbers if number]
    if all(float(number).is_integer() for number in numbers):
        places = 0
    else:
        places = min(max(DIGITS - 1 - math.floor(math.log10(max(sizes))), 1), DIGITS)
    # At least two digits of each are shown.
    has_two_digits = not sizes or (min(sizes) >= 10.0 ** (1 - places) and max(sizes) < LONG)
    while places > 1 and all(round(number, places - 1) == number for number in numbers):
        places -= 1  # a script that rounded has said how many digits count
    return [_cell(value, places if has_two_digits else None) for value in values]


def shares(values: Sequence[Cell]) -> list[float]:
    """The size of each number as a share of the largest one, from 0 to 1; 0 where there is none."""
    sizes = [abs(value) if not isinstance(value, str) and math.isfinite(value) else 0.0 for value in values]
    return [size / (max(sizes) or 1.0) for size in sizes]


def bars(values: Sequence[Cell], room: int) -> list[str]:
    """A bar for each number, the largest as long as there is room; of a negative one its size in a lighter shade."""
    drawn = []
    for value, share in zip(values, shares(values)):
        full, eighths = divmod(round(8 * room * share), 8)
        negative = not isinstance(value, str) and value < 0
        drawn.append("░" * (full + eighths // 4) if negative else "█" * full + EIGHTHS[eighths].strip())
    return drawn


def measured(script: Path) -> dict[str, Any]:
    """Run a script: question, rows, plot (a column's name), claim (in words) and holds. What it prints goes to stderr.

    Raises ValueError where the script lacks a name or a row lacks a column; what the script raises passes through.
    """
    with contextlib.redirect_stdout(sys.stderr):
        names = runpy.run_path(str(script))
        missing = [name for name in NAMES if name not in names]
        if missing or not names["__doc__"]:
            raise ValueError(f"the script lacks {', '.join(missing) or 'a docstring with its question'}")
        plot, rows = names["PLOT"], [dict(row) for row in names["measure"]()]
        if not rows or any(list(row) != list(rows[0]) for row in rows) or plot not in rows[0]:
            raise ValueError(f"measure() gives rows with the same columns, one of them PLOT = {plot!r}")
        holds = bool(names["claim"](rows))
    question = names["__doc__"].strip().splitlines()[0]
    return {"question": question, "rows": rows, "plot": plot, "claim": names["CLAIM"], "holds": holds}


def main() -> None:
    """Measure the script that is named, and print the result or where the script broke."""
    script = Path(sys.argv[1])
    try:
        print(json.dumps(measured(script)))
    except Exception as error:
        frame, line = error.__traceback__, 0
        while frame is not None:
            line = frame.tb_lineno if frame.tb_frame.f_code.co_filename == str(script) else line
            frame = frame.tb_next
        line = getattr(error, "lineno", None) or line  # of a SyntaxError
        print(json.dumps({"error": f"{type(error).__name__}: {error}", "line": line}))


if __name__ == "__main__":
    main()


def _cell(value: Cell, places: int | None) -> str:
    if isinstance(value, str):
        return value
    if places is not None or not math.isfinite(value):
        return f"{value:.{places or 0}f}"
    if value == 0 or 1e-3 <= abs(value) < LONG:
        return f"{value:.0f}" if float(value).is_integer() or abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:.1e}"


def _heads(names: Sequence[str]) -> list[list[str]]:
    """The names of the columns, a word a line, as many lines for each."""
    head_words = [name.split() for name in names]
    height = max(map(len, head_words))
    return [
        list(line)
        for line in zip(*([""] * (height - len(lines_of_name)) + lines_of_name for lines_of_name in head_words))
    ]


def _row(texts: Sequence[str], sizes: Sequence[int], labels: Sequence[bool]) -> str:
    """One line of the table: labels stand on the left, numbers on the right."""
    placed = [f"{text:{'<' if label else '>'}{size}}" for text, size, label in zip(texts, sizes, labels)]
    return GAP.join(placed)


def _environment() -> dict[str, str]:
    """The same numbers on every machine: one thread adds in one order."""
    return os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
