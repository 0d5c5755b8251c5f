"""One lesson with its interactive figure as a page of its own, and the figure with the learner's own matrices.

python -m grader.integrations.lesson_page 03_context_vectors

`serve` shows a browser on this machine the figure, with the learner's matrices, again after each save. Only 127.0.0.1
is listened at, and only addresses that begin with a secret are answered.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from markupsafe import Markup

from grader import catalog
from grader.catalog import Exercise, paths
from grader.catalog.errors import WrongUse
from grader.desk import formulas, lesson
from grader.desk.grading_thread import StableFile
from grader.integrations import figures
from grader.judge import figure
from grader.records import safe_files
from grader.records.submission import Submission, Unreadable
from grader.reports.templating import document, render

if TYPE_CHECKING:
    from markdown_it.token import Token

Ask = Callable[[Submission | Unreadable], dict[str, Any]]  # the matrices of what a learner wrote, or why there are none

HERE = 'document.querySelector("#figure > script")'  # the script is at the end of the page, the figure is not
LESSON = "reports/templates/lesson.html"
OPENED = "<details><summary>{}</summary>"
TABLE = re.compile(r"<table>.*?</table>", re.S)
FOLD = re.compile(r"^<details>\n<summary>(.*?)</summary>$|^</details>$", re.M)
BEGIN, END = "\ue000", "\ue001"  # stand for the tags of what is folded while the Markdown is read
FOLDED = re.compile(rf"<p>{BEGIN}(.*?)</p>|<p>{END}</p>")
ELSEWHERE = re.compile(r"https?:|#")
PICTURE = "data:image/svg+xml;base64,"
WIDE = '<div class="scroll" tabindex="0" role="region" aria-label="A table">{}</div>'
TEMPLATE = "integrations/figures/templates/live.html"
LOOK_S = 0.2  # seconds between two looks at the files
WAIT_S = 20.0  # seconds until a question without news is answered all the same
HOST = "127.0.0.1"
STYLE = "body { font: 16px/1.5 system-ui, sans-serif; max-width: 1040px; margin: 1em auto; padding: 0 1em; }\n"


def page(folder: str) -> str:
    """The whole page, which loads nothing from anywhere."""
    if not figure.has_figure(folder):
        return plain_page(folder)
    script = figures.script(folder).replace("document.currentScript", HERE)
    return figures.place_figure(plain_page(folder, script, figures.style()), folder)


def plain_page(folder: str, script: str = "", style: str = "") -> str:
    """The page without the figure. Links to other files of the project are left out. script, style: of the figure."""
    from markdown_it import MarkdownIt

    path, title = paths.lesson(folder), f"{folder[:2]} {catalog.find(folder).title}"
    text = formulas.as_text(lesson.without_still(path.read_text("utf-8")))
    text = FOLD.sub(lambda fold: f"\n{END if fold[1] is None else BEGIN + fold[1]}\n", text)
    text = re.sub(r"\A# .*\n", "", text)
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    for token in tokens:
        token.attrs.pop("style", None)  # the page's policy refuses it
        token.children = _plain(token.children or [], path.parent)
    body = reader.renderer.render(tokens, reader.options, {})
    body = FOLDED.sub(lambda fold: "</details>" if fold[1] is None else OPENED.format(fold[1]), body)
    body = TABLE.sub(lambda table: WIDE.format(table[0]), body).replace("<pre>", '<pre tabindex="0">')
    body = body.replace("<p><img ", '<p class="scroll" tabindex="0"><img ')
    return document(LESSON, title, script=script, style=style, has_images=True, body=Markup(body))


def write(folder: str) -> Path:
    """The path of the page, which is written unless the site has it."""
    target = lesson.page_file(folder)
    if target == paths.lesson_page(folder):
        target.parent.mkdir(exist_ok=True)
        safe_files.write_whole(target, page(folder))
    return target


def main() -> None:
    """Write the page of the exercise that is named, and open it."""
    lesson.open_in_browser(write(sys.argv[1]).as_uri())


class Live:
    """What the page shows: the learner's matrices, with a version that grows when they are computed again."""

    def __init__(self, exercise: Exercise) -> None:
        self.exercise = exercise
        self.answer: dict[str, Any] = {}
        self.version, self.changed = 0, threading.Condition()

    def show(self, answer: dict[str, Any]) -> None:
        """Show an answer on every page that is open."""
        with self.changed:
            self.version, self.answer = self.version + 1, answer
            self.changed.notify_all()

    def next(self, seen: int) -> dict[str, Any]:
        """The answer after the version that a page has seen, or after a while the same once more."""
        with self.changed:
            self.changed.wait_for(lambda: self.version != seen, WAIT_S)
            return {"version": self.version, **self.answer}


def serve(exercise: Exercise, path: Path, ask: Ask, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. path: the learner's file; ask: gives its matrices; say: tells the learner the address.

    An author's change of the figure itself loads the page again. Raises WrongUse if the exercise has no figure.
    """
    if not figure.has_figure(exercise.folder):
        raise WrongUse(f"{exercise.folder} has no figure.")
    live, secret = Live(exercise), secrets.token_urlsafe(16)
    server = ThreadingHTTPServer((HOST, 0), _handler(live, secret))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://{HOST}:{server.server_port}/{secret}/"
    say(address)
    lesson.open_in_browser(address)
    try:
        _look(live, path, ask)
    finally:
        server.shutdown()


def _look(live: Live, path: Path, ask: Ask) -> None:
    """Look at the files again and again: at the learner's, and at those of the figure."""
    folder = live.exercise.folder
    parts = [paths.figure_script(folder), paths.figure_data(folder), *sorted(paths.FIGURES.glob("*.*"))]
    own, drawn = StableFile(path), _state(parts)
    while True:
        if content := own.read_new():
            live.show(ask(content.handed_in))
        if (now := _state(parts)) != drawn:
            drawn = now
            for known in (figure.figure, figure.data):
                known.cache_clear()
            live.show({"reload": True})
            own = StableFile(path)  # its numbers are shown again
        time.sleep(LOOK_S)


def _state(files: list[Path]) -> list[tuple[int, int]]:
    """When each file was written, and its size; zeros for one that is absent."""
    found = []
    for file in files:
        try:
            status = file.stat()
            found.append((status.st_mtime_ns, status.st_size))
        except OSError:
            found.append((0, 0))
    return found


def _handler(live: Live, secret: str) -> type[BaseHTTPRequestHandler]:
    """What answers a browser."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            _, given, name = [*address.path.split("/", 2), "", ""][:3]
            is_ours = self.headers.get("Host", "").partition(":")[0] == HOST
            if not (is_ours and secrets.compare_digest(given.encode(), secret.encode())):
                self.send_error(404)
            elif name == "":
                self.answer("text/html", _live_page(live.exercise))
            elif name == "figures.css":
                self.answer("text/css", STYLE + figures.style())
            elif name == "figure.js":
                self.answer("text/javascript", figures.live(live.exercise.folder))
            elif name == "mine":
                seen = parse_qs(address.query).get("seen", ["0"])[0]
                self.answer("application/json", json.dumps(live.next(int(seen) if seen.isdecimal() else 0)))
            else:
                self.send_error(404)

        def answer(self, kind: str, text: str) -> None:
            """Send a text."""
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: the terminal is the learner's."""

    return Handler


def _live_page(exercise: Exercise) -> str:
    """The page with the figure, whose script then asks for the learner's matrices."""
    has_pictures = paths.pictures(exercise.folder).exists()
    page = render(TEMPLATE, title=f"{exercise.folder[:2]} {exercise.title}", has_pictures=has_pictures)
    return figures.place_figure(page, exercise.folder, "figure.js")


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


if __name__ == "__main__":
    main()
