"""A result for continuous integration: JUnit XML with a test case for each check, GitHub's annotations and summary, and
the points for GitHub Classroom.

Workflow commands are lines that begin with "::". No text of a learner begins a line here, and the text in a command is
escaped as GitHub's own toolkit escapes it.
"""

import base64
import html
import json
import re
from xml.etree import ElementTree

from grader.records.causes import Cause, causes
from grader.records.evidence import Place
from grader.records.results import FAILED, NOT_CHECKED, NOT_GRADED, PASSED, ExerciseResult
from grader.reports import terminal

SCALE = 4  # points are multiples of a quarter, and GitHub Classroom's and Classroom 50's are whole numbers
SIGNS = {"passed": "✅", "failed": "❌", "not_checked": "➖"}


def as_junit(result: ExerciseResult) -> str:
    """One <testsuite>. A check that was not tried is skipped. A file that was not loaded or not graded is an error."""
    found, outcomes = causes(result), [check.outcome for check in result.checks]
    errors = int(not result.tried)
    suite = ElementTree.Element(
        "testsuite",
        name=result.exercise,
        tests=str(len(outcomes) + errors),
        failures=str(outcomes.count(FAILED)),
        errors=str(errors),
        skipped=str(outcomes.count(NOT_CHECKED)),
        time=f"{result.duration_s:.3f}",
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name in ("device", "seed", "points", "max_points"):
        if getattr(result, name) is not None:
            ElementTree.SubElement(properties, "property", name=name, value=str(getattr(result, name)))
    if errors:
        case = ElementTree.SubElement(suite, "testcase", classname=result.exercise, name="load")
        _problem(case, "error", result.message)
    for check in result.checks:
        case = ElementTree.SubElement(suite, "testcase", classname=result.exercise, name=check.id)
        if check.outcome == FAILED:
            sentences = [cause.sentences[0] for cause in found if check in cause.checks]
            _problem(case, "failure", terminal.explain(check, found), *sentences)
        elif check.outcome == NOT_CHECKED:
            ElementTree.SubElement(case, "skipped", message=check.message)
    if result.output:
        ElementTree.SubElement(suite, "system-out").text = result.output
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def annotations(result: ExerciseResult) -> str:
    """One workflow command for each cause of a failure, and a plain last line with the points."""
    heading, found = terminal.heading(result)[0], causes(result)
    lines = [_annotation(result, cause) for cause in found]
    if not result.started:
        lines = [command("notice", result.message, Place(result.submission, 1), f"{result.exercise}: not started")]
    elif not result.tried and not found:
        what = "not graded" if result.status == NOT_GRADED else "not loaded"
        lines = [command("error", result.message, Place(result.submission, 1), f"{result.exercise}: {what}")]
    return "\n".join([*lines, heading]) + "\n"


def as_classroom(result: ExerciseResult) -> str:
    """The result of one runner for GitHub Classroom's autograding reporter: JSON in base64, on one line.

    By its source (classroom-resources/autograding-grading-reporter, src/main.js and src/notify-classroom.js) the sum
    of the tests' scores is reported, unless max_score is 0, and a status other than "pass" fails the job. So a result
    that is no verdict reports no points.
    """
    found = causes(result)
    tests = [
        {
            "name": f"{result.exercise[:2]} {check.title}",
            "status": "pass" if check.outcome == PASSED else "fail",
            "score": round(check.points * SCALE),
            "message": "" if check.outcome == PASSED else terminal.explain(check, found) or result.message,
        }
        for check in result.checks
    ]
    status, most = {PASSED: "pass"}.get(result.status, "fail"), round(result.max_points * SCALE)
    if result.status == NOT_GRADED:
        status, most = "error", 0
        tests = [{"name": result.exercise, "status": status, "score": 0, "message": result.message}]
    report = {"version": 1, "status": status, "max_score": most, "tests": tests}
    return base64.b64encode(json.dumps(report).encode()).decode() + "\n"


def summary(result: ExerciseResult) -> str:
    """The part of the job summary about one exercise, in Markdown."""
    heading = f"### {result.exercise[:2]} {_cell(result.title)}: {result.points:g} of {result.max_points:g} points\n\n"
    if not result.started:
        return heading + "not started yet\n\n"
    rows = ["| | check | points |", "|---|---|---:|"]
    for check in result.checks:
        rows.append(f"| {SIGNS[check.outcome]} | {_cell(check.title)} | {check.points:g}/{check.max_points:g} |")
    found = causes(result)
    text = terminal.as_text(terminal.cause_blocks(found, every=True)) if found else result.message
    inert = re.sub(r"\n\s*\n", "\n&nbsp;\n", html.escape(text.strip()))  # a blank line would end the block
    block = f"\n<pre>{inert}</pre>\n" if inert else ""
    return heading + "\n".join(rows) + "\n" + block + "\n"


def command(kind: str, message: str, place: Place, title: str) -> str:
    """A workflow command: `::error file=…,line=…,title=…::message`."""
    facts: dict[str, object] = {"file": place.file, "line": place.line}
    facts |= {"col": place.column, "endColumn": place.end_column} if place.column else {}
    facts["title"] = title
    values = {name: _data(str(value)).replace(":", "%3A").replace(",", "%2C") for name, value in facts.items()}
    return f"::{kind} {','.join(f'{name}={value}' for name, value in values.items())}::{_data(message)}"


def _annotation(result: ExerciseResult, cause: Cause) -> str:
    """The command about the checks that fail for a cause."""
    place = cause.finding.place or Place(result.submission, 1)
    others = f" (and {len(cause.checks) - 1} more)" if len(cause.checks) > 1 else ""
    title = f"{result.exercise[:2]} {cause.example.title}{others}" if cause.checks else f"{result.exercise}: not loaded"
    text = terminal.as_text(terminal.cause_lines(cause)[bool(cause.finding.place) :])
    return command("error", text.strip("\n"), place, title)


def _problem(case: ElementTree.Element, kind: str, text: str, sentence: str = "") -> None:
    """Add a failure or an error to a test case."""
    first_line = sentence or (text.splitlines()[0] if text else kind)
    ElementTree.SubElement(case, kind, message=first_line).text = text


def _data(text: str) -> str:
    """A text as GitHub's toolkit escapes it in a command's message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _cell(text: str) -> str:
    """Text with every character escaped that Markdown could interpret."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~$@-])", r"\\\1", text.replace("\n", " "))
