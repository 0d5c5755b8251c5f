"""A result as a fragment of HTML: for the report, a class's feedback and a notebook."""

from collections.abc import Sequence

from grader.report.page import escape
from grader.results import ERROR, FAILED, NOT_CHECKED, PASSED, CheckResult, ExerciseResult

LEVELS = ("full", "hints", "names", "none")  # how much a learner is told
SIGNS = {PASSED: ("✔", "passed"), FAILED: ("✘", "failed"), NOT_CHECKED: ("–", "not checked"), ERROR: ("✘", "error")}


def verdict(result: ExerciseResult, level: str = "full", pictures: Sequence = (), heading: int = 2) -> str:
    """One exercise's result. `pictures`: grader.pictures.Picture; `heading`: the level of its heading, 2 to 5.

    level "full": messages, diagnoses, prints, pictures; "hints": diagnoses and pictures; "names": which checks
    passed; "none": the points alone.
    """
    if level not in LEVELS:
        raise ValueError(f'"{level}" is no level of feedback. There are: {", ".join(LEVELS)}')
    name = f"{result.exercise[:2]} {result.title}"
    parts = [f'<article class="verdict" aria-label="{escape(name)}">']
    parts.append(f"<h{heading}>{escape(name)}</h{heading}>")
    if not result.started:
        parts.append('<p class="waiting"><span aria-hidden="true">–</span> not started</p>')
    parts.append(_summary(result, level))
    if level in ("full", "hints"):
        parts += [f'<p class="likely">note: {escape(note)}</p>' for note in result.notes]
        if result.message:
            parts.append(f'<p class="message">{escape(result.message)}</p>')
    if level != "none" and result.started and result.status != ERROR:
        parts += ['<ul class="checks">', *(_check(check, level) for check in result.checks), "</ul>"]
    if level in ("full", "hints") and pictures:
        from grader.pictures import svg

        parts.append(svg.figures(pictures))
    if level == "full" and result.output.strip():
        parts.append(f"<details><summary>What the code printed</summary><pre>{escape(result.output)}</pre></details>")
    return "\n".join([*parts, "</article>"])


def outcome(word: str) -> str:
    """A verdict's word with its sign and colour: never by colour alone."""
    sign, text = SIGNS[word]
    return f'<span class="outcome {word}"><span aria-hidden="true">{sign}</span> {text}</span>'


def _summary(result: ExerciseResult, level: str) -> str:
    points = f"{result.points:g} of {result.max_points:g} points"
    if level == "none" or not result.started:
        return f"<p>{points}</p>"
    facts = f'<span class="faint">{escape(result.submission)} · {escape(result.device)} · seed {result.seed}</span>'
    return f"<p>{outcome(result.status)} · {points} · {facts}</p>"


def _check(check: CheckResult, level: str) -> str:
    task = f'<span class="faint">Task {check.task}</span> ' if check.task else ""
    points = f'<span class="faint">{check.points:g}/{check.max_points:g}</span>'
    lines = [f"<li>{outcome(check.outcome)} {task}{escape(check.title)} {points}"]
    if level == "full" and check.message and check.outcome != PASSED:
        lines.append(f'<p class="message">{escape(check.message)}</p>')
    if level in ("full", "hints") and check.diagnosis:
        lines.append(f'<p class="likely">likely: {escape(check.diagnosis)}</p>')
    return "\n".join([*lines, "</li>"])
