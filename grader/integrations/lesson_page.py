"""One lesson with its interactive figure, and the learner's own matrices below it, as a page of its own."""

from __future__ import annotations

import base64
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from grader import catalog
from grader.catalog import Exercise, paths
from grader.catalog.errors import InfrastructureError, WrongUse
from grader.desk import formulas, lesson
from grader.integrations import figures
from grader.judge import figure
from grader.records import safe_files
from grader.records.submission import Submission, Unreadable
from grader.reports.templating import document

if TYPE_CHECKING:
    from markdown_it.token import Token

    from grader.sandbox.forkserver import ForkServer

HERE = 'document.querySelector("#figure > script")'  # the script is at the end of the page, the figure is not
LESSON = "reports/templates/lesson.html"
OPENED = "<details><summary>{}</summary>"
TABLE = re.compile(r"<table>.*?</table>", re.S)
FOLD = re.compile(r"^<details>\n<summary>(.*?)</summary>$|^</details>$", re.M)
BEGIN, END = "\ue000", "\ue001"  # stand for the tags of what is folded while the Markdown is read
FOLDED = re.compile(rf"<p>{BEGIN}(.*?)</p>|<p>{END}</p>")
CODE = re.compile(r"</?code>")
ELSEWHERE = re.compile(r"https?:|#")
PICTURE = "data:image/svg+xml;base64,"
WIDE = '<div class="scroll" tabindex="0" role="region" aria-label="A table">{}</div>'


def page(folder: str, own: dict[str, Any]) -> str:
    """The whole page, which loads nothing but the font beside it. own: the learner's matrices.

    Links to other files of the project are left out.
    """
    from markdown_it import MarkdownIt

    path, title = paths.lesson(folder), f"{folder[:2]} {catalog.find(folder).title}"
    text = figures.fold_answers(lesson.for_page(path.read_text("utf-8"), f"{figures.PLACE}\n\n"))
    text, taken = formulas.take_out(text)
    text = FOLD.sub(lambda fold: f"\n{END if fold[1] is None else BEGIN + CODE.sub('`', fold[1])}\n", text)
    text = re.sub(r"\A# .*\n", "", text)
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    for token in tokens:
        token.attrs.pop("style", None)  # the page's policy refuses it
        token.children = _plain(token.children or [], path.parent)
    body = formulas.put_back(reader.renderer.render(tokens, reader.options, {}), taken)
    body = FOLDED.sub(lambda fold: "</details>" if fold[1] is None else OPENED.format(fold[1]), body)
    body = TABLE.sub(lambda table: WIDE.format(table[0]), body).replace("<pre>", '<pre tabindex="0">')
    body = body.replace("<p><img ", '<p class="scroll" tabindex="0"><img ')
    style = figures.style() + formulas.style()
    script = figures.script(folder, has_own=True).replace("document.currentScript", HERE)
    script += paths.module("integrations/site/roots.js").read_text("utf-8")
    whole = document(LESSON, title, script=script, style=style, has_pictures=True, body=Markup(body))
    return figures.place_figure(whole, folder, own=own)


def write_own(exercise: Exercise, handed_in: Submission | Unreadable, fork_server: ForkServer) -> Path:
    """Write the page with the matrices of the learner's file.

    Raises WrongUse if the exercise has no figure, and InfrastructureError where the page cannot be written.
    """
    from grader.integrations.notebook import display
    from grader.judge import capture

    if not figure.has_figure(exercise.folder):
        raise WrongUse(f"{exercise.folder} has no figure.")
    if isinstance(handed_in, Unreadable):
        own = {"text": handed_in.reason}
    else:
        own = display.matrices(exercise, capture.capture_pictures(exercise, handed_in, fork_server))
    target = paths.own_page(exercise.folder)
    font, copy, text = formulas.font(), target.with_name("math.ttf"), page(exercise.folder, own)
    try:
        target.parent.mkdir(exist_ok=True)
        if font and not copy.exists():
            shutil.copyfile(font, copy)
        safe_files.write_whole(target, text)
    except OSError as error:
        raise InfrastructureError(f"{paths.shown(target)} cannot be written: {error.strerror}") from None
    return target


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
