"""A lesson for the terminal: formulas, tables and code as text; answers stay folded until they are asked for."""

import re

from rich.console import RenderableType
from rich.markdown import Markdown

from grader.catalog import paths
from grader.desk import lesson
from grader.reports import formulas

FOLDED = re.compile(r"^<details>\s*<summary>(?P<title>.*?)</summary>(?P<body>.*?)^</details>", re.M | re.S)
TAGS = re.compile(r"</?(?:b|i|em|strong|code|sub|sup)>")
PICTURE = re.compile(r"!\[(?P<words>[^\]]*)\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
HEADING = re.compile(r"#{1,6} +(.*)")
CLOSED, OPEN = "▸", "▾"


def page(folder: str, unfold: bool = False) -> list[RenderableType]:
    """The whole lesson. unfold: show the answers too."""
    try:
        text = paths.lesson(folder).read_text("utf-8", errors="replace")
    except OSError:
        return [f"There is no file {paths.shown(paths.lesson(folder))}."]
    return [rendered(text, unfold)]


def rendered(markdown: str, unfold: bool = False) -> Markdown:
    """Markdown of a lesson as a terminal shows it."""
    return Markdown(plain(markdown, unfold), code_theme="ansi_dark")


def plain(markdown: str, unfold: bool = False) -> str:
    """The Markdown without HTML, links and pictures, its headings in bold, its formulas as text."""

    def fold(found: re.Match[str]) -> str:
        title = TAGS.sub("", found["title"]).strip()
        body = f"\n\n{found['body'].strip()}\n" if unfold else ""
        return f"{OPEN if unfold else CLOSED} *{title}*{body}"

    text = formulas.as_text(FOLDED.sub(fold, lesson.without_still(markdown)))
    lines, is_code = [], False
    for line in text.splitlines():
        is_code ^= line.startswith("```")
        if is_code or line.startswith("```"):
            lines.append(line)
            continue
        line = LINK.sub(r"\1", PICTURE.sub(r"(A picture: \g<words>)", line))
        heading = HEADING.fullmatch(line)
        lines.append(f"**{heading[1].replace('**', '')}**" if heading else line)
    return "\n".join(lines)


def section(folder: str, heading: str) -> str:
    """The text of a section of the lesson, as Markdown without its heading; "" where there is none."""
    try:
        text = paths.lesson(folder).read_text("utf-8", errors="replace")
    except OSError:
        return ""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found[1].strip() if found else ""
