"""A lesson as one HTML page, for a reader who has not built the site: its words, formulas as text, no pictures."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from grader.reports import formulas
from grader.reports.html_page import document

TEMPLATE = "reports/templates/lesson.html"
SUMMARY = re.compile(r"<summary>(.*?)</summary>")
FOLD = re.compile(r"^</?details>$", re.M)
ELSEWHERE = re.compile(r"https?:|#")


def page(markdown: str, title: str) -> str:
    """The page of a lesson of ours, which begins with its title. Links to other files of the project are left out."""
    text = FOLD.sub("", SUMMARY.sub(r"**\1**", formulas.as_text(markdown)))
    text = re.sub(r"\A# .*\n", "", text)
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    for token in tokens:
        token.attrs.pop("style", None)  # the page's policy refuses it
        token.children = _plain(token.children or [])
    return document(TEMPLATE, title, body=Markup(reader.renderer.render(tokens, reader.options, {})))


def _plain(children: list[Token]) -> list[Token]:
    """The parts of a paragraph without links to files, and with a picture's words in its place."""
    kept, inside = [], False
    for child in children:
        if child.type == "link_open":
            inside = bool(ELSEWHERE.match(str(child.attrs.get("href", ""))))
        if child.type in ("link_open", "link_close") and not inside:
            continue
        if child.type == "image":
            child = Token("text", "", 0, content=f"({child.content})")
        kept.append(child)
    return kept
