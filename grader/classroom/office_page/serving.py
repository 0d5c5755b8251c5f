"""Serves the assistants' page on 127.0.0.1 to whoever knows the address that was printed.

Other pages in the same browser, other users and other machines are kept out: the address holds a secret, which becomes
a cookie of these pages alone; the Host must be this machine; a form must come from our own page, with a token. No page
has a script, and nothing that a student wrote is run or shown as HTML. Each request opens the results and closes them.
"""

import asyncio
import contextlib
import hashlib
import hmac
import re
import secrets
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from tornado.escape import url_escape, url_unescape
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

from grader.catalog import paths
from grader.catalog.errors import InfrastructureError, WrongUse
from grader.classroom.grades import number
from grader.classroom.office_page import by_hand, views
from grader.classroom.office_page.by_hand import Wish
from grader.classroom.office_page.views import Place, Slice
from grader.records import containment
from grader.records.sanitize import inert
from grader.reports import templating
from grader.reports.html import verdict
from grader.reports.templating import render

HOST, NAMES = "127.0.0.1", ("127.0.0.1", "localhost")
TEMPLATES = "classroom/office_page/templates"
STYLES = ("reports/style.css", "classroom/office_page/office.css")
POLICY = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'"
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer, a browser would hide the origin of our own forms too
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "kata",
}
MAX_BODY = 1 << 18  # bytes of a form
MAX_EXPLANATION = 1 << 20  # characters
EXPLAIN_S = 600.0
KEPT_S = 12 * 3600  # seconds for which a browser knows who types
PLACE = re.compile(r"^.*overrides\.csv, line \d+: ")  # a line that is not written yet
ASIDE = "Meanwhile somebody else saved something here, or the student handed in again. This is set now:"


class Settings:
    """What all requests share: where the course is, and the secrets of this process."""

    def __init__(self, place: Place, port: int) -> None:
        self.place, self.port = place, port
        self.token = secrets.token_hex(24)
        self.path = f"/{secrets.token_hex(4)}/"  # cookies know no ports: other servers here get none of ours
        self.cookie = f"kata_office_{port}"
        self.form_token = hmac.new(self.token.encode(), b"form", hashlib.sha256).hexdigest()
        self.explaining = asyncio.Lock()  # one at a time: each has the processor for itself

    @property
    def address(self) -> str:
        """What the assistants open."""
        return f"http://{HOST}:{self.port}{self.path}{self.token}"


async def serve(place: Place, port: int, say: Callable[[str], None]) -> None:
    """Serve until this task is cancelled. port 0: a free one; say: is called with the address.

    Raises WrongUse where the port is not free.
    """
    try:
        sockets = bind_sockets(port, HOST)
    except OSError as error:
        raise WrongUse(f"port {port} cannot be used: {error.strerror}. Another one: PORT=…") from None
    settings = Settings(place, sockets[0].getsockname()[1])
    server = HTTPServer(application(settings), max_body_size=MAX_BODY, max_header_size=1 << 14)
    server.add_sockets(sockets)
    say(settings.address)
    try:
        await asyncio.Event().wait()
    finally:
        server.stop()


def application(settings: Settings) -> Application:
    """The pages."""
    below = settings.path
    routes = [
        (f"{below}office.css", Style),
        (below, Start),
        (f"{below}students", Students),
        (f"{below}student", OneStudent),
        (f"{below}exercise", OneExercise),
        (f"{below}mark", OneMark),
        (f"{below}explain", Explain),
        (f"{below}([0-9a-f]{{1,80}})", Enter),
    ]
    return Application(
        [(path, handler, {"own": settings}) for path, handler in routes],
        default_handler_class=Nothing, default_handler_args={"own": settings},
        log_function=lambda handler: None,  # paths hold students' ids
    )  # fmt: skip


class Guarded(RequestHandler):
    """A page for whoever has the cookie."""

    needs_cookie = True

    def initialize(self, own: Settings) -> None:
        self.own = own

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Refuse whoever is not meant."""
        host = self.request.headers.get("Host", "").lower()
        if host not in {f"{name}:{self.own.port}" for name in NAMES}:
            raise HTTPError(403)
        if self.needs_cookie and not _is_same(self.get_cookie(self.own.cookie, ""), self.own.token):
            raise HTTPError(403)
        if self.request.method == "POST":
            ours = self.request.headers.get("Origin") == f"http://{host}"
            site = self.request.headers.get("Sec-Fetch-Site", "same-origin")
            token = self.get_body_argument("token", "")
            if not (ours and site == "same-origin" and _is_same(token, self.own.form_token)):
                raise HTTPError(403)

    def write_error(self, status_code: int, **facts: Any) -> None:
        """A short page, without anything of the request in it."""
        words = {
            403: "This page is for whoever opened the address that `make office` printed, in this browser.",
            404: "There is no such page.",
            405: "That is not possible here.",
            409: "The results cannot be read now.",
        }
        error = facts["exc_info"][1] if "exc_info" in facts else None
        text = words.get(status_code, "The grader could not make this page.")
        if isinstance(error, (WrongUse, InfrastructureError)):
            text = str(error) + (
                ". Go back in the browser: what you typed is still there" * (self.request.method == "POST")
            )
        self.page("office.html", "Not now" if status_code == 409 else "Nothing here", text=text)

    def send_error(self, status_code: int = 500, **facts: Any) -> None:
        """A wrong use is an answer, and no breakdown."""
        error = facts["exc_info"][1] if "exc_info" in facts else None
        is_known = isinstance(error, (WrongUse, InfrastructureError))
        code = 404 if isinstance(error, views.NotThere) else 409
        super().send_error(code if is_known else status_code, **facts)

    def log_exception(self, *facts: Any) -> None:
        """One line for what broke; nothing for what was refused."""
        if not isinstance(facts[1], (HTTPError, WrongUse, InfrastructureError)):
            print(f"a page could not be made: {inert(containment.reason(facts[1]))}", file=sys.stderr)

    def page(self, template: str, title: str, **facts: Any) -> None:
        """Send a page."""
        common = {"policy": POLICY, "script": "", "style": "", "number": number, "link": link, "query": self.query}
        self.finish(render(f"{TEMPLATES}/{template}", title=title, form_token=self.own.form_token, **common, **facts))

    @property
    def query(self) -> Mapping[str, str]:
        """The words of the address."""
        return {name: self.get_query_argument(name) for name in self.request.query_arguments}

    def word(self, name: str) -> str:
        """One word of the address, as it is."""
        return self.get_query_argument(name, "", strip=False)

    @property
    def page_number(self) -> int:
        """The page of a long list."""
        text = self.word("page")
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 1


class Nothing(Guarded):
    """Whatever else is asked for."""

    def prepare(self) -> None:
        super().prepare()
        raise HTTPError(404)


class Enter(Guarded):
    """The address that was printed: whoever knows it gets the cookie."""

    needs_cookie = False

    def get(self, token: str) -> None:
        if not _is_same(token, self.own.token):
            raise HTTPError(404)
        self.set_cookie(self.own.cookie, self.own.token, path=self.own.path, httponly=True, samesite="Strict")
        self.redirect(self.own.path)


class Style(Guarded):
    """How the pages look."""

    def get(self) -> None:
        self.set_header("Content-Type", "text/css; charset=utf-8")
        self.finish(
            "".join([templating.colours_of_page(), *(paths.module(name).read_text("utf-8") for name in STYLES)])
        )


class Start(Guarded):
    """What needs a person, and the exercises."""

    def get(self) -> None:
        with views.open_results(self.own.place) as results:
            handed_in = {one.folder: len(results.with_exercise(one.folder)) for one in results.exercises}
            names = {student.id: student.label for student in results.rolled}
            facts = {"needs": Slice.of(results.needs(), self.page_number), "elsewhere": results.elsewhere()}
            self.page("start.html", "The office", results=results, handed_in=handed_in, names=names, **facts)


class Students(Guarded):
    """All students, or those whose name holds a word."""

    def get(self) -> None:
        with views.open_results(self.own.place) as results:
            found = results.students(self.word("find"), self.page_number)
            points = {student.id: results.points(student=student.id) for student in found.items}
            self.page("students.html", "Students", found=found, find=self.word("find"), points=points)


class OneStudent(Guarded):
    """All exercises of one student."""

    def get(self) -> None:
        self.show()

    def post(self) -> None:
        _save(self, self.word("student"), "")

    def show(self, error: str = "", changed: str = "") -> None:
        """Send the page. error: what is wrong with the form; changed: somebody else was faster."""
        with views.open_results(self.own.place) as results:
            student = results.student(self.word("student"))
            row, standing, dropped = results.standing(student)
            entry = by_hand.read(results.folder, student.id, "")
            self.page(
                "student.html", student.label, student=student, results=results, row=row, standing=standing,
                dropped=dropped, requests=[one for one in results.requests if one.student == student.id], entry=entry,
                log=by_hand.log(results.folder, student.id), typed=_shown(self, entry), error=error, changed=changed,
            )  # fmt: skip


class OneExercise(Guarded):
    """All students of one exercise."""

    def get(self) -> None:
        with views.open_results(self.own.place) as results:
            exercise = results.exercise(self.word("exercise"))
            points = results.points(exercise=exercise.folder)
            students = results.with_exercise(exercise.folder)
            if self.word("order") == "points":
                students = sorted(students, key=lambda one: points.get((one.id, exercise.folder)) or 0.0)
            title = f"{exercise.folder[:2]} {exercise.title}"
            found = Slice.of(students, self.page_number)
            self.page("exercise.html", title, exercise=exercise, found=found, points=points, order=self.word("order"))


class OneMark(Guarded):
    """One exercise of one student: the mark, its attempts, and what a person sets."""

    def get(self) -> None:
        self.show()

    def post(self) -> None:
        _save(self, self.word("student"), self.word("exercise"))

    def show(self, error: str = "", changed: str = "", explanation: str = "") -> None:
        """Send the page. error: what is wrong with the form; changed: somebody else was faster."""
        with views.open_results(self.own.place) as results:
            one = results.single(self.word("student"), self.word("exercise"))
            _, standing, dropped = results.standing(one.student)
            title = f"{one.exercise.folder[:2]} {one.exercise.title}, {one.student.label}"
            self.page(
                "mark.html", title, one=one, results=results, dropped=one.exercise.folder in dropped,
                weight=standing.rule.weight(one.exercise.folder), typed=_shown(self, one.entry), verdict=verdict,
                error=error, changed=changed, explanation=explanation, entry=one.entry,
            )  # fmt: skip


class Explain(OneMark):
    """The attempt that counts, graded again, in a process of its own."""

    def get(self) -> None:
        raise HTTPError(405)

    async def post(self) -> None:  # type: ignore[override]
        student, exercise = self.word("student"), self.word("exercise")
        _handin(self, student, exercise)
        async with self.own.explaining:
            explanation = await _explain(self.own.place, student, exercise)
        self.show(explanation=explanation)


def link(page: str, **words: str) -> str:
    """The address of a page, relative to all others."""
    return f"{page}?{urlencode(words, quote_via=quote)}"


def _is_same(given: str | None, secret: str) -> bool:
    return secrets.compare_digest((given or "").encode("utf-8", "replace"), secret.encode())


def _handin(handler: Guarded, student: str, exercise: str) -> str:
    """The digest of the hand-in that counts, "" for none. Raises NotThere where these results have no such names.

    It is also noted as the hand-in that the points set there by hand are for.
    """
    with views.open_results(handler.own.place) as results:
        id, folder = results.student(student).id, results.exercise(exercise).folder if exercise else ""
        mark = results.marks(id, {folder}).get(folder)
        return mark.digest if mark else ""


def _save(handler: Any, student: str, exercise: str) -> None:
    """Save what a form holds, and go back to its page; where that is not possible, show it with what was typed."""
    handin = _handin(handler, student, exercise)
    field, folder = handler.get_body_argument, handler.own.place.rules.parent
    names = [name for name in handler.request.body_arguments if name.startswith("points:")]
    points = {name.partition(":")[2]: field(name) for name in names} if exercise else {}
    texts = {name: field(name, "") for name in ("comment", "reason", "who", "stamp")}
    answers = handler.get_body_arguments("answers")
    try:
        wish = Wish(student, exercise, points, **texts, handin=handin, again=bool(field("again", "")), answers=answers)
        by_hand.save(folder, wish)
    except by_hand.Changed:
        handler.set_status(409)
        handler.show(changed=ASIDE)
        return
    except WrongUse as error:
        handler.set_status(400)
        handler.show(error=PLACE.sub("", str(error)))
        return
    with contextlib.suppress(WrongUse):  # a run has just begun, which notes it too
        _handin(handler, student, exercise)
    keep = {"path": handler.own.path, "httponly": True, "samesite": "Strict", "max_age": KEPT_S}
    handler.set_cookie("who", url_escape(texts["who"][:100]), **keep)
    words = {"student": student, "exercise": exercise} if exercise else {"student": student}
    handler.redirect(link("mark" if exercise else "student", **words, saved="1"), status=303)


def _shown(handler: Guarded, entry: by_hand.Entry) -> dict[str, Any]:
    """What the fields of a form hold: what was typed, else what is set."""
    if handler.request.method == "POST" and "stamp" in handler.request.body_arguments:
        names = handler.request.body_arguments
        typed = {name: handler.get_body_argument(name) for name in names if name not in ("token", "stamp")}
        return {"comment": "", "reason": "", "who": "", **typed, "answers": handler.get_body_arguments("answers")}
    points = {f"points:{one.check}": by_hand.shown_points(one) for one in entry.overrides}
    reason = entry.overrides[-1].reason if entry.overrides else ""
    who = url_unescape(handler.get_cookie("who", "") or "")
    return {**points, "comment": entry.comment, "reason": reason, "who": who, "answers": []}


async def _explain(place: Place, student: str, exercise: str) -> str:
    """What `kata explain` prints. It runs by itself, so it can be ended, and a page waits for nothing else."""
    options = ["--out", str(place.out), "--rules", str(place.rules)]
    options += ["--roster", str(place.roster)] if place.roster else []
    command = [sys.executable, "-m", "grader", "explain", *options, "--", student, exercise]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), EXPLAIN_S)
    except (asyncio.TimeoutError, asyncio.CancelledError) as error:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        if isinstance(error, asyncio.CancelledError):
            raise
        return f"It took longer than {EXPLAIN_S:g} s, and was stopped. Try: make explain"
    return output.decode("utf-8", "replace")[:MAX_EXPLANATION]
