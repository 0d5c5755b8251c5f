"""HTML of results and lessons: a verdict as a fragment, the page of a learner's exercises, and a lesson as a page."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from grader.judge.pictures import Picture
from grader.records.results import ExerciseResult, once
from grader.reports import formulas, heatmap, templating
from grader.reports.templating import document

if TYPE_CHECKING:
    from markdown_it.token import Token

LEVELS = ("where", "full", "hints", "names", "none")  # of detail in feedback
TITLE = "Attention, by hand: your report"
LESSON_TEMPLATE = "reports/templates/lesson.html"
OPENED = "<details><summary>{}</summary>"
TABLE = re.compile(r"<table>.*?</table>", re.S)
FOLD = re.compile(r"^<details>\n<summary>(.*?)</summary>$|^</details>$", re.M)
BEGIN, END = "\ue000", "\ue001"  # stand for the tags of what is folded while the Markdown is read
FOLDED = re.compile(rf"<p>{BEGIN}(.*?)</p>|<p>{END}</p>")
ELSEWHERE = re.compile(r"https?:|#")
PICTURE = "data:image/svg+xml;base64,"
WIDE = '<div class="scroll" tabindex="0" role="region" aria-label="A table">{}</div>'


def verdict(result: ExerciseResult, level: str = "where", pictures: Sequence[Picture] = (), heading: int = 2) -> Markup:
    """The result of one exercise. heading: the level of its heading, 2 to 5; pictures: shown below the checks.

    level "where": all that there is, each place to look at once; "full": all but the lines to look at, so messages,
    diagnoses, prints, pictures; "hints": diagnoses and pictures; "names": which checks passed; "none": the points
    alone. Raises ValueError for any other level.
    """
    demand_level(level)
    figures = heatmap.figures(pictures if level in ("where", "full", "hints") else ())
    places = once(check.where for check in result.checks)
    result = replace(result, checks=tuple(replace(check, where=where) for check, where in zip(result.checks, places)))
    return templating.macro("reports/templates/verdict.html", "verdict")(result, level, figures, heading)


def demand_level(level: str) -> None:
    """Raise ValueError where this is no level of feedback."""
    if level not in LEVELS:
        raise ValueError(f'"{level}" is no level of feedback. There are: {", ".join(LEVELS)}')


@dataclass(frozen=True)
class Entry:
    """One exercise on the page. row: as grader.desk.progress makes it; lesson: a relative address."""

    row: dict[str, Any]
    result: ExerciseResult | None
    pictures: tuple[Picture, ...]
    hints: int
    hints_left: int
    lesson: str

    @property
    def first_pass(self) -> str:
        """The day on which the exercise was first passed."""
        moment = self.row["first_pass"]
        return "–" if moment is None else time.strftime("%Y-%m-%d", time.localtime(moment))


def report_page(
    entries: Sequence[Entry], paths: Sequence[dict[str, Any]], now: float, closing: Sequence[str] = ()
) -> str:
    """The whole page, which needs no script. now: seconds since 1970; closing: what is next, and what is due."""
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
    facts: dict[str, Any] = {"entries": entries, "paths": paths, "made": date, "verdict": verdict, "closing": closing}
    return document("reports/templates/overview.html", TITLE, **facts)


def lesson_page(markdown: str, title: str, place: Path, script: str = "", style: str = "") -> str:
    """The page of a lesson of ours, which begins with its title. Links to other files of the project are left out.

    place: the folder of its pictures, which become a part of the page; script, style: of its figure.
    """
    from markdown_it import MarkdownIt

    text = FOLD.sub(lambda fold: f"\n{END if fold[1] is None else BEGIN + fold[1]}\n", formulas.as_text(markdown))
    text = re.sub(r"\A# .*\n", "", text)
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    for token in tokens:
        token.attrs.pop("style", None)  # the page's policy refuses it
        token.children = _plain(token.children or [], place)
    body = reader.renderer.render(tokens, reader.options, {})
    body = FOLDED.sub(lambda fold: "</details>" if fold[1] is None else OPENED.format(fold[1]), body)
    body = TABLE.sub(lambda table: WIDE.format(table[0]), body).replace("<pre>", '<pre tabindex="0">')
    body = body.replace("<p><img ", '<p class="scroll" tabindex="0"><img ')
    return document(LESSON_TEMPLATE, title, script=script, style=style, has_images=True, body=Markup(body))


def _plain(children: list[Token], place: Path) -> list[Token]:
    """The parts of a paragraph without links to files. A picture is put into the page; its words where it is absent."""
    from markdown_it.token import Token

    kept_tokens, in_kept_link = [], False
    for child in children:
        if child.type == "link_open":
            in_kept_link = bool(ELSEWHERE.match(str(child.attrs.get("href", ""))))
        if child.type in ("link_open", "link_close") and not in_kept_link:
            continue
        if child.type == "image":
            file = place / str(child.attrs.get("src", ""))
            if file.suffix == ".svg" and file.is_file():
                child.attrs["src"] = PICTURE + base64.b64encode(file.read_bytes()).decode()
            else:
                child = Token("text", "", 0, content=f"({child.content})")
        kept_tokens.append(child)
    return kept_tokens
