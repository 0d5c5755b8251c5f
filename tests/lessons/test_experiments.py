"""The experiments of the lessons: each claim is measured, and each printed table is held against the measurement."""

import ast
import math
import os
import re
import subprocess
import sys

import pytest
from thorough import THOROUGH, nightly, sample

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import WrongUse
from grader.desk import experiment

EXERCISES = catalog.exercises()
LINES = 80
TABLE = re.compile(r"^\| (.*) \|$", re.M)
# Each makes torch, or the library below it, add in the order of another processor. An experiment has one thread anyway.
PROCESSORS = ("ATEN_CPU_CAPABILITY=default", "ATEN_CPU_CAPABILITY=avx2", "MKL_CBWR=COMPATIBLE") if THOROUGH else ()
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")
SCRIPT = '''"""Is one more than none?"""
CLAIM = "It is."
def measure():
    return {rows}
def claim(rows):
    return rows[0]["n"] > 0
'''
BROKEN = {
    "1 / 0": r"experiment\.py:4\nZeroDivisionError",
    "]": r"experiment\.py:4\nSyntaxError",
    "[]": "rows with the same columns",
    '[{"n": 1}, {"m": 1}]': "rows with the same columns",
    "exit()": r"experiment\.py:4\nSystemExit",
}


def printed_as(text: str, value: float) -> bool:
    """Whether a measured value is what the lesson prints, to the digits that it prints."""
    if not math.isfinite(value) or text in ("inf", "-inf", "nan"):
        return text == f"{value:.0f}"
    mantissa, _, exponent = text.partition("e")
    places = len(mantissa.partition(".")[2])
    return abs(value - float(text)) <= 0.51 * 10.0 ** (int(exponent or 0) - places) + 1e-12


@pytest.fixture(params=["", *PROCESSORS], ids=lambda setting: setting or "this processor")
def processor(request, monkeypatch) -> None:
    """The environment makes torch compute as it does on another processor."""
    name, _, value = request.param.partition("=")
    if name:
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("exercise", sample(EXERCISES, 3), ids=lambda exercise: exercise.folder)
def test_the_claim_holds_and_the_lesson_prints_what_is_measured(exercise, processor):
    measured = experiment.run(exercise)
    assert measured.holds, f"{measured.claim}\n{measured.table}"
    section = paths.lesson(exercise.folder).read_text("utf-8").partition("\n## Experiment\n")[2].partition("\n## ")[0]
    first_table = section[section.index("\n| ") :].strip().partition("\n\n")[0]
    head, _marks, *rows = (row.split(" | ") for row in TABLE.findall(first_table))
    assert head == list(measured.rows[0]) and len(rows) == len(measured.rows)
    # The columns that hold times of this machine: only the claim speaks of them.
    timed = re.search(r"^TIMED = (.*)$", paths.experiment(exercise.folder).read_text("utf-8"), re.M)
    for row, expected in zip(rows, measured.rows):
        for name, cell in zip(head, row):
            if isinstance(expected[name], str):
                assert cell == expected[name]
            elif not timed or name not in ast.literal_eval(timed[1]):
                assert printed_as(cell, expected[name]), f"{name}: the lesson says {cell}, measured {expected[name]}"


def test_scripts_are_short():
    lengths = {one.folder: len(paths.experiment(one.folder).read_text("utf-8").splitlines()) for one in EXERCISES}
    assert {folder: length for folder, length in lengths.items() if length > LINES} == {}


@nightly
@pytest.mark.parametrize(
    ("number", "script", "heading"),
    [
        ("14", "measure_stream", "layers       added"),
        ("15", "measure_circuits", "loss after a token"),
        ("30", "measure_checkpoint", "kept"),
        ("33", "measure_journey", "after           first"),
    ],
)
def test_a_table_of_a_measuring_script_is_the_one_of_the_lesson(number, script, heading, processor):
    """Or of its notice, from the heading on, for scripts that measure neither time nor memory."""
    folder = catalog.find(number).folder
    command = [sys.executable, str(paths.lesson(folder).parent / f"{script}.py"), str(paths.solution(folder))]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread)
    printed = done.stdout[done.stdout.index(heading) :].splitlines()[1:]
    shown: dict[str, list[list[str]]] = {}
    for line in (paths.lesson(folder).read_text("utf-8") + paths.notice(folder).read_text("utf-8")).splitlines():
        shown.setdefault(" ".join(re.sub("[█ ]+", " ", NUMBER.sub("#", line)).split()), []).append(NUMBER.findall(line))
    for line in printed:
        words, numbers = " ".join(re.sub("[█ ]+", " ", NUMBER.sub("#", line)).split()), NUMBER.findall(line)
        measured = [float(text.replace(",", "")) for text in numbers]
        assert any(
            all(map(printed_as, (text.replace(",", "") for text in texts), measured)) for texts in shown.get(words, [])
        ), f"the lesson does not print: {line}"


@pytest.mark.slow
def test_the_command_shows_question_table_and_verdict(said):
    done = said("experiment", "02")
    assert done.returncode == 0, done.stderr
    assert "?" in done.stdout and re.search(r"^ +100 +\S+ +\S+ +\S+", done.stdout, re.M)
    assert "measured: holds" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines()[:-1])


@pytest.fixture
def script(desk):
    """The file of the experiment of exercise 02, which a test writes."""
    file = paths.experiment(catalog.find("02").folder)
    file.unlink()
    return file


def test_a_script_as_a_table_of_a_lesson_and_with_a_claim_that_does_not_hold(said, script):
    script.write_text(SCRIPT.replace("{rows}", '[{"n": 1.5}, {"n": 2.0}]'))
    assert said("experiment", "02", "--format", "md").stdout.strip() == "| n |\n| ---: |\n| 1.5 |\n| 2.0 |"
    script.write_text(SCRIPT.replace("{rows}", '[{"n": -1.5}, {"n": 1.0}]'))
    done = said("experiment", "02")
    assert done.returncode == 1 and "measured: does not hold" in done.stdout


def test_a_script_that_is_not_there_or_breaks_is_told_by_its_line(script):
    with pytest.raises(WrongUse, match="has no experiment"):
        experiment.run(catalog.find("02"))
    for rows, told in BROKEN.items():
        script.write_text(SCRIPT.replace("{rows}", rows))
        with pytest.raises(WrongUse, match=told):
            experiment.run(catalog.find("02"))


def test_a_column_shows_each_number():
    for values, texts in (
        ([0, 1, 20.0], ["0", "1", "20"]),
        ([0.5, 1 / 3], ["0.5000", "0.3333"]),
        ([84.2, 1.0, 0.3, 0.0], ["84.2", "1.0", "0.3", "0.0"]),  # no zeros behind what a script has rounded
        ([0.5, float("inf")], ["0.5", "inf"]),
        ([12.5, 0.25], ["12.50", "0.25"]),
        ([0.5, 0.00001], ["0.5", "1.0e-05"]),
        (["a", "b"], ["a", "b"]),
        ([5e6, 0.5], ["5.0e+06", "0.5"]),
    ):
        assert experiment.cells(values) == texts
