"""A result for continuous integration: JUnit XML with a test case for each check, GitHub's annotations and summary, and
the points for GitHub Classroom.

Workflow commands are lines that begin with "::". No text of a learner begins a line here, and the text in a command is
escaped as GitHub's own toolkit escapes it.
"""

import base64
import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

from grader.catalog.errors import BadSubmission
from grader.records.results import ERROR, FAILED, NOT_CHECKED, NOT_GRADED, PASSED, CheckResult, ExerciseResult, causes
from grader.records.source import line_of

SCALE = 4  # points are multiples of a quarter, and GitHub Classroom's and Classroom 50's are whole numbers
SIGNS = {"passed": "✅", "failed": "❌", "not_checked": "➖"}
CALLED = re.compile(r"(?m)^called   (\w+)")
LINE_NUMBER = re.compile(r"\bline (\d+)\b")


def as_junit(result: ExerciseResult) -> str:
    """One <testsuite>. A check that was not tried is skipped. A file that was not loaded or not graded is an error."""
    outcomes = [check.outcome for check in result.checks]
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
            likely_cause = f"likely: {check.diagnosis}" if check.diagnosis else ""
            _problem(case, "failure", "\n".join(filter(None, [check.message, likely_cause, check.where])))
        elif check.outcome == NOT_CHECKED:
            ElementTree.SubElement(case, "skipped", message=check.message)
    if result.output:
        ElementTree.SubElement(suite, "system-out").text = result.output
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def annotations(result: ExerciseResult, source: str = "") -> str:
    """One workflow command for each cause of a failure, and a plain last line with the points.

    GitHub shows ten annotations of a step. So checks that fail for the same reason on the same line share one.
    source: the learner's, to find the line of a function.
    """
    groups: dict[tuple[int, str], list[CheckResult]] = {}
    for cause in causes(result):
        checks = [replace(check, diagnosis=cause.diagnosis, where=cause.where) for check in cause.checks]
        for check in checks:
            line = cause.lines[0] if cause.lines else _line(check.message, result.submission, source)
            reason = cause.where or check.diagnosis or check.message.partition("\n")[0].partition(" (")[0]
            groups.setdefault((line, reason), []).append(check)
    lines = [_command(result, checks, line) for (line, _), checks in groups.items()]
    if result.status == ERROR:
        line = _line(result.message, result.submission, "") or _first_number(result.message)
        lines.append(command("error", result.message, result.submission, line, f"{result.exercise}: not loaded"))
    elif result.status == NOT_GRADED:
        lines.append(command("error", result.message, result.submission, 1, f"{result.exercise}: not graded"))
    elif not result.started:
        lines = [command("notice", result.message, result.submission, 1, f"{result.exercise}: not started")]
    lines.append(f"{result.exercise}: {result.points:g} of {result.max_points:g} points, {result.status}")
    return "\n".join(lines) + "\n"


def as_classroom(result: ExerciseResult) -> str:
    """The result of one runner for GitHub Classroom's autograding reporter: JSON in base64, on one line.

    By its source (classroom-resources/autograding-grading-reporter, src/main.js and src/notify-classroom.js) the sum
    of the tests' scores is reported, unless max_score is 0, and a status other than "pass" fails the job. So a result
    that is no verdict reports no points.
    """
    tests = [
        {
            "name": f"{result.exercise[:2]} {check.title}",
            "status": "pass" if check.outcome == PASSED else "fail",
            "score": round(check.points * SCALE),
            "message": "" if check.outcome == PASSED else _explain(check) or result.message,
        }
        for check in result.checks
    ]
    status = {PASSED: "pass", NOT_GRADED: "error"}.get(result.status, "fail")
    if status == "error":
        tests = [{"name": result.exercise, "status": "error", "score": 0, "message": result.message}]
    most = 0 if status == "error" else round(result.max_points * SCALE)
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
    messages = [f"{result.message}\n"] if result.message else []
    messages += [f"{check.title}\n{_explain(check)}\n" for check in _failed(result)]
    block = f"\n<pre>{_inert_html(chr(10).join(messages).rstrip())}</pre>\n" if messages else ""
    return heading + "\n".join(rows) + "\n" + block + "\n"


def command(kind: str, message: str, file: str, line: int, title: str) -> str:
    """A workflow command: `::error file=…,line=…,title=…::message`."""
    facts = ",".join(f"{name}={_property(value)}" for name, value in (("file", file), ("line", line), ("title", title)))
    return f"::{kind} {facts}::{_data(message)}"


def _problem(case: ElementTree.Element, kind: str, text: str) -> None:
    """Add a failure or an error to a test case."""
    first_line = text.splitlines()[0] if text else kind
    ElementTree.SubElement(case, kind, message=first_line).text = text


def _command(result: ExerciseResult, checks: list[CheckResult], line: int) -> str:
    """The command about checks that fail for the same cause."""
    addition = f" (and {len(checks) - 1} more)" if len(checks) > 1 else ""
    title = f"{result.exercise[:2]} {checks[0].title}{addition}"
    return command("error", _explain(checks[0]), result.submission, line, title)


def _failed(result: ExerciseResult) -> Iterator[CheckResult]:
    """The failed checks of a result that is not passed."""
    return (check for check in result.checks if check.outcome == FAILED and result.status != PASSED)


def _explain(check: CheckResult) -> str:
    """A check's message with its diagnosis and where to look."""
    likely_cause = f"likely: {check.diagnosis}" if check.diagnosis else ""
    return "\n".join(filter(None, [check.message, likely_cause, check.where]))


def _line(message: str, file: str, source: str) -> int:
    """The line that a message is about: the last line of the file that it names, that of the function, or 1."""
    line_numbers = re.findall(rf"{re.escape(file)}:(\d+)", message)
    if line_numbers:
        return int(line_numbers[-1])
    if number := LINE_NUMBER.search(message.partition("\n")[0]):
        return int(number[1])
    call_match = CALLED.search(message)
    return _defined(source, call_match[1]) if call_match else 1


def _first_number(message: str) -> int:
    """The first line number in a message, or 1."""
    number = LINE_NUMBER.search(message)
    return int(number[1]) if number else 1


def _defined(source: str, name: str) -> int:
    """The line in which a function is defined, or 1."""
    try:
        return line_of(source, name) or 1
    except BadSubmission:
        return 1


def _data(text: str) -> str:
    """A text as GitHub's toolkit escapes it in a command's message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: object) -> str:
    """A value as GitHub's toolkit escapes it in a command's properties."""
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")


def _cell(text: str) -> str:
    """Text with every character escaped that Markdown could interpret."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~$@-])", r"\\\1", text.replace("\n", " "))


def _inert_html(text: str) -> str:
    """Text escaped for <pre>: no tag, no entity, and no blank line, which would end the block."""
    return re.sub(r"\n\s*\n", "\n&nbsp;\n", html.escape(text))
