"""A lesson as one HTML page, for a reader who has not built the site: its words, pictures, and formulas as text."""

import base64
import re
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from grader.reports import formulas
from grader.reports.html_page import document

TEMPLATE = "reports/templates/lesson.html"
OPENED = "<details><summary>{}</summary>"
TABLE = re.compile(r"<table>.*?</table>", re.S)
FOLD = re.compile(r"^<details>\n<summary>(.*?)</summary>$|^</details>$", re.M)
BEGIN, END = "\ue000", "\ue001"  # stand for the tags of what is folded while the Markdown is read
FOLDED = re.compile(rf"<p>{BEGIN}(.*?)</p>|<p>{END}</p>")
ELSEWHERE = re.compile(r"https?:|#")
PICTURE = "data:image/svg+xml;base64,"
WIDE = '<div class="scroll" tabindex="0" role="region" aria-label="A table">{}</div>'


def page(markdown: str, title: str, place: Path) -> str:
    """The page of a lesson of ours, which begins with its title. Links to other files of the project are left out.

    place: the folder of its pictures, which become a part of the page.
    """
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
    return document(TEMPLATE, title, has_images=True, body=Markup(body))


def _plain(children: list[Token], place: Path) -> list[Token]:
    """The parts of a paragraph without links to files. A picture is put into the page; its words where it is absent."""
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
