"""A result as JUnit XML for CI systems, with a test case for each check."""

from xml.etree import ElementTree

from grader.records.results import FAILED, NOT_CHECKED, ExerciseResult


def render(result: ExerciseResult) -> str:
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


def _problem(case: ElementTree.Element, kind: str, text: str) -> None:
    """Add a failure or an error to a test case."""
    first_line = text.splitlines()[0] if text else kind
    ElementTree.SubElement(case, kind, message=first_line).text = text
