"""The assistants' page: a real server, real requests, two people at once, a browser, strangers outside."""

import contextlib
import csv
import http.client
import io
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from browser import CONTRASTS, browser
from extras import needed
from in_this_process import Here
from made_once import made_once
from made_up_class import result_of
from test_templates import HOSTILE, Structure, wrong
from thorough import nightly

from grader import catalog
from grader.catalog import mistakes, paths
from grader.classroom import ledger, marking, run
from grader.classroom.course_rules import BEST, LATEST, Course, LateRule
from grader.classroom.handins import HandIn, Origin, Student
from grader.classroom.history import History, Kept
from grader.classroom.intake import names
from grader.classroom.marking import Attempt, Lateness, Override
from grader.classroom.office import Office
from grader.classroom.office_page import by_hand
from grader.classroom.office_page.by_hand import Wish
from grader.classroom.roster.sheet import Person, Roster
from grader.classroom.store import Store, write
from grader.records.sanitize import label
from grader.records.submission import Submission

needed("tornado", "office")

SOFTMAX, CONTEXT = "02_softmax_naive", "03_context_vectors"
RIGHT = {folder: paths.solution(folder).read_text("utf-8") for folder in (SOFTMAX, CONTEXT)}
WRONG = {folder: mistakes.mistakes(folder)[0].source for folder in (SOFTMAX, CONTEXT)}
MOST = catalog.find(CONTEXT).max_points
CHECK = next(iter(catalog.find(CONTEXT).points))
EVIL = "<script>steal()</script><img src=x onerror=steal()>"
RULES = """attempts = "best"
roster = "roster.csv"
drop_lowest = 1
[late]
percent = 10
[deadlines]
"03" = 2026-11-20
"""
ROSTER = f"""id,name,email,request
ada,Ada Lovelace,ada@x.edu,
ben,"Ben {EVIL}",ben@x.edu,
cyd,Cyd Oh,cyd@x.edu,Was my PDF read?
dee,Dée Ünal,dee@x.edu,
"""
OVERRIDES = "student;exercise;points;reason;note;check;who\r\ndee;03;5;oral;mine;;Prof\r\nben;02;;kind;;{};Prof\r\n"


@pytest.fixture(scope="module")
def graded(fork_server, tmp_path_factory) -> Path:
    """A course of four after two runs: late hand-ins, two attempts, a file that could not be placed, a request."""

    def make(root: Path) -> None:
        root.mkdir()
        lay(root, "course.toml", RULES)
        lay(root, "roster.csv", ROSTER)
        lay(root, "handed_in.csv", "student,exercise,time\nada,03,2026-11-21 10:00\n")
        lay(root, "overrides.csv", OVERRIDES.format(next(iter(catalog.find(SOFTMAX).points))))
        lay(root, "requests.csv", f"e-mail,exercise,request\nada@x.edu,Exercise 03,Look again {EVIL}\nnobody@x,03,Me\n")
        for folder in (SOFTMAX, CONTEXT):
            lay(root, f"in/ada/{folder[3:]}.py", f"# {EVIL}\n{WRONG[folder]}")
            lay(root, f"in/ben/{folder[3:]}.py", RIGHT[folder])
        lay(root, "in/cyd/context_vectors.py.pdf", EVIL)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "executor_of", Here(fork_server))
            patch.setattr(run.similar, "pairs", lambda handins, jobs: [])
            grade(root, patch)
            lay(root, "in/ada/softmax_naive.py", RIGHT[SOFTMAX])
            grade(root, patch)

    return made_once(tmp_path_factory, "office", make)


def lay(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, "utf-8", newline="")


def grade(root: Path, patch: pytest.MonkeyPatch) -> None:
    """`kata grade in`, in the folder of the course."""
    from grader import cli

    patch.chdir(root)
    assert cli.main(["grade", "in"]) in (0, 3)


@dataclass
class Client:
    """Somebody's browser, as far as HTTP goes."""

    address: str
    root: Path
    cookie: str = ""

    @property
    def port(self) -> int:
        return int(re.search(r":(\d+)/", self.address)[1])

    @property
    def below(self) -> str:
        """The path of all pages."""
        return re.search(r"\d(/\w+/)", self.address)[1]

    def ask(self, path: str, method: str = "GET", body: str = "", **headers: str) -> tuple[int, str, dict[str, str]]:
        """The status, the page and the headers of one request. Headers: Host="…", Sec_Fetch_Site="…"; "" leaves out."""
        host = f"127.0.0.1:{self.port}"
        named = {"Host": host, "Cookie": self.cookie}
        if method == "POST":
            named |= {"Origin": f"http://{host}", "Content-Type": "application/x-www-form-urlencoded"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in named.items():
                if value:
                    connection.putheader(name, value)
            if method == "POST":
                connection.putheader("Content-Length", str(len(body.encode())))
            connection.endheaders(body.encode() if method == "POST" else None)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), dict(answer.getheaders())
        finally:
            connection.close()

    def enter(self) -> "Client":
        status, _, headers = self.ask(self.address.partition(str(self.port))[2])
        assert status == 302 and headers["Location"] == self.below
        self.cookie = headers["Set-Cookie"].partition(";")[0]
        return self

    def get(self, page: str, /, **words: str) -> str:
        """The text of a page that must be there."""
        status, text, _ = self.ask(f"{self.below}{page}{'?' * bool(words)}{urlencode(words, quote_via=quote)}")
        assert status == 200, text
        return text

    def save(self, page: str, student: str, exercise: str, fields: dict[str, str], text: str = "") -> tuple[int, str]:
        """Fill in the form of a page and send it. text: the page as it was seen; default: as it is now."""
        words = {"student": student} | ({"exercise": exercise} if exercise else {})
        text = text or self.get(page, **words)
        form = text[text.rindex('<form method="post"') :]
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)"', form))
        typed = {
            unescape(name): unescape(value)
            for name, value in re.findall(r'name="(points:\w*)"[^>]*value="([^"]*)"', form)
        }
        comment = unescape(re.search(r"<textarea[^>]*>(.*?)</textarea>", form, re.S)[1])
        body = urlencode({**hidden, **typed, "comment": comment, "reason": "seen", "who": "Tina", **fields})
        status, text, _ = self.ask(f"{self.below}{page}?{urlencode(words)}", "POST", body)
        return status, text


@contextlib.contextmanager
def served(root: Path, *options: str) -> Iterator[Client]:
    """A context with the page of a course, as `kata office` opens it."""
    command = [sys.executable, "-m", "grader", "office", *options]
    environment = {
        name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    }
    process = subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**environment, "PYTHONPATH": str(paths.ROOT)},
    )  # fmt: skip
    try:
        assert "on this machine alone" in process.stdout.readline(), process.stderr.read()
        yield Client(process.stdout.readline().strip(), root).enter()
    finally:
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=30)[1]
        assert errors.strip() == "stopped" and process.returncode == 130, errors


@pytest.fixture(scope="module")
def shown(graded, tmp_path_factory) -> Iterator[Client]:
    """The page of the course, for tests that change nothing."""
    own = tmp_path_factory.mktemp("shown") / "own"
    shutil.copytree(graded, own)
    with served(own) as client:
        yield client


@pytest.fixture
def office(graded, tmp_path) -> Iterator[Client]:
    """The page of a course of one's own."""
    shutil.copytree(graded, tmp_path / "own")
    with served(tmp_path / "own") as client:
        yield client


def rows(path: Path) -> list[dict[str, str]]:
    return list(
        csv.DictReader(
            io.StringIO(path.read_text("utf-8"), newline=""), delimiter=";" if path.name == "overrides.csv" else ","
        )
    )


def of_mark(page: str) -> list[tuple[str, str]]:
    """The steps that the page of a mark shows: words and points."""
    table = page.partition("<h2>The mark</h2>")[2].partition("</table>")[0]
    return [
        (unescape(words), points)
        for words, points in re.findall(r"<td>(.*?)</td><td class=\"number\">(.*?)</td>", table)
    ]


# 1. Who is let in.


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("{below}", {}, 200),
        ("{below}", {"Host": "localhost:{port}"}, 200),  # through ssh -L
        ("{below}", {"Cookie": ""}, 403),
        ("{below}", {"Cookie": "kata_office_{port}=wrong"}, 403),
        ("{below}", {"Host": "office.example:{port}"}, 403),  # a name of somebody else's that leads to this machine
        ("{below}", {"Host": "127.0.0.1"}, 403),
        ("{below}", {"Host": ""}, 403),
        ("{below}0123456789abcdef", {"Cookie": ""}, 404),
        ("/", {}, 404),
        ("{below}../../etc/passwd", {}, 404),
        ("{below}..%2f..%2fpyproject.toml", {}, 404),
        ("{below}student?student=..%2F..%2Fetc", {}, 404),
        ("{below}mark?student=ada&exercise=../../x", {}, 404),
        ("{below}office.css", {"Cookie": ""}, 403),
    ],
)
def test_only_who_knows_the_address_is_answered(shown, path, headers, status):
    facts = {"below": shown.below, "port": shown.port}
    headers = {name: value.format(**facts) for name, value in headers.items()}
    answer, text, sent = shown.ask(path.format(**facts), **headers)
    if headers.get("Host") == "":
        assert answer in (400, 403)
        return
    assert answer == status
    assert "default-src 'none'" in sent["Content-Security-Policy"] and "script" not in sent["Content-Security-Policy"]
    assert sent["Cache-Control"] == "no-store" and sent["X-Frame-Options"] == "DENY"
    assert status == 200 or ("Ada" not in text and "passwd" not in text and "Traceback" not in text)


def test_the_cookie_is_for_these_pages_alone(shown):
    _, _, headers = shown.ask(shown.address.partition(str(shown.port))[2])
    parts = set(headers["Set-Cookie"].split("; ")[1:])
    assert parts == {"HttpOnly", f"Path={shown.below}", "SameSite=Strict"}


def test_no_other_address_of_this_machine_is_listened_at(shown):
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", shown.port), timeout=5)


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ({"Origin": "http://evil.example"}, None),
        ({"Origin": "null"}, None),
        ({"Origin": ""}, None),
        ({"Origin": "http://127.0.0.1:1"}, None),
        ({"Sec_Fetch_Site": "cross-site"}, None),
        ({"Sec_Fetch_Site": "same-site"}, None),  # another server of this machine
        ({"Cookie": ""}, None),
        ({}, ""),
        ({}, "0" * 64),
    ],
)
def test_a_form_of_another_page_writes_nothing(shown, headers, token):
    page = shown.get("mark", student="ada", exercise=CONTEXT)
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)"', page))
    before = (shown.root / "overrides.csv").read_bytes()
    fields = {**hidden, "points:": "7", "reason": "x", "who": "x"}
    fields |= {"token": token} if token is not None else {}
    for path in ("mark", "explain"):
        target = f"{shown.below}{path}?student=ada&exercise={CONTEXT}"
        assert shown.ask(target, "POST", urlencode(fields), **headers)[0] == 403
    assert (shown.root / "overrides.csv").read_bytes() == before


def test_a_form_that_is_too_large_is_not_read(shown):
    with contextlib.suppress(OSError, http.client.HTTPException):
        status, _, _ = shown.ask(f"{shown.below}mark?student=ada&exercise={CONTEXT}", "POST", "x" * (1 << 20))
        assert status >= 400
    assert shown.get("")  # it goes on


def test_while_a_run_writes_the_page_says_so(shown):
    store = Store(shown.root / "results")
    try:
        status, text, _ = shown.ask(f"{shown.below}students")
    finally:
        store.close()
    assert status == 409 and "another run is writing" in text
    assert shown.get("students")


# 2. What is shown.


def test_nothing_of_a_student_is_markup(shown):
    pages = [("", {}), ("students", {}), ("students", {"find": EVIL}), ("student", {"student": "ben"})]
    pages += [("exercise", {"exercise": CONTEXT}), ("mark", {"student": "ada", "exercise": CONTEXT})]
    pages += [("mark", {"student": "ben", "exercise": SOFTMAX}), ("mark", {"student": "cyd", "exercise": CONTEXT})]
    for page, words in pages:
        found = Structure(shown.get(page, **words))
        tags = {name for name, *_ in found.elements}
        attributes = {attribute for _, *own in found.elements for attribute in own}
        assert not tags & {"script", "img", "iframe", "object"}, page
        assert not {name for name in attributes if name.startswith("on") or name == "style"}, page
    shown_source = "".join(Structure(shown.get("mark", student="ada", exercise=CONTEXT)).texts)
    assert f"# {EVIL}" in shown_source and f"Look again {EVIL}" in shown_source


def test_names_of_folders_and_files_are_text(tmp_path):
    """Whoever hands in chooses these: they are in the store as the finder leaves them."""
    lay(tmp_path, "course.toml", "")
    store = Store(tmp_path / "results")
    history, ids = History(store), names.ids(HOSTILE)
    for number, word in enumerate(HOSTILE):
        student, name = Student(ids[word], label(word)), f"{label(word)}.py"
        store.add(f"{number}.x", write(replace(wrong(word), exercise=CONTEXT)), ledger.version_of_exercise(CONTEXT))
        store.enrol(student)
        store.enter(HandIn(student, CONTEXT, f"/in/{word}/{name}"), f"{number}.x")
        history.attempt(Kept(student.id, CONTEXT, f"{number}", f"{number}.x", None, Origin("Moodle", word, word)))
        history.keep(f"{number}", Submission(f"x = 1\n{word}", name))
        comment = word.encode("utf-8", "replace").decode()
        by_hand.save(
            tmp_path,
            Wish(student.id, CONTEXT, {}, comment, "r", "w", by_hand.read(tmp_path, student.id, CONTEXT).stamp),
        )
    store.close()
    with served(tmp_path) as client:
        for word, id in ids.items():
            for page in ("", "students", "student", "exercise", "mark"):
                words = {"student": id, "exercise": CONTEXT} if page not in ("", "students") else {}
                found = Structure(client.get(page, **words))
                assert not {tag for tag, *_ in found.elements} & {"script", "img", "comment"}, page
                own = {attribute for _, *own in found.elements for attribute in own}
                assert not {attribute for attribute in own if attribute.startswith("on") or attribute == "style"}, page
                text = "".join(found.texts)
                assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), page
            if word.isprintable():
                assert text.count(word) > 5, word  # as it was written: nothing was run, and nothing escaped twice


def test_the_mark_is_shown_step_by_step(shown):
    steps = of_mark(shown.get("mark", student="ada", exercise=CONTEXT))
    recorded = {row["student"]: row for row in rows(shown.root / "results/grades.csv")}
    raw = float(steps[0][1])
    assert [words for words, _ in steps] == [
        "attempt 1 of 1 counts, the grader's points", "1 day late: 90 % of the points are left", "the mark",
    ]  # fmt: skip
    assert steps[-1][1] == f"{recorded['ada'][CONTEXT]} of {MOST:g}" and float(recorded["ada"][CONTEXT]) == raw * 0.9
    page = shown.get("mark", student="ada", exercise=SOFTMAX)
    assert of_mark(page)[0][0] == "attempt 2 of 2 counts, the grader's points"
    assert page.index("Attempt 2, the one that counts") < page.index("Attempt 1<")
    assert "In the total" in page and "Dropped" in shown.get("mark", student="ada", exercise=CONTEXT)
    set_by_hand = of_mark(shown.get("mark", student="dee", exercise=CONTEXT))
    assert set_by_hand[:2] == [("no hand-in that is graded", "–"), ("set by hand: 5 points, by Prof (oral)", "5")]
    for id, row in recorded.items():
        assert f"{row['total']} points in all" in shown.get("student", student=id)


def test_the_steps_end_at_the_mark_whatever_the_rules():
    draw = random.Random(7)
    checks = list(catalog.find(CONTEXT).points)
    for _ in range(300):
        course = Course(attempts=draw.choice((BEST, LATEST)), late=LateRule(percent=draw.choice((0, 7, 60)), cap=90))
        tried = [
            Attempt(
                str(number),
                result_of(CONTEXT, draw.random()) if draw.random() < 0.9 else None,
                Lateness(draw.randint(0, 2), after_end=draw.random() < 0.2),
            )
            for number in range(draw.randint(0, 3))
        ]
        whole = [Override("a", CONTEXT, "", draw.choice((0.0, 3.5, 7.0)), "r", "w")]
        single = [Override("a", CONTEXT, check, draw.choice((None, 0.0)), "r", "w") for check in draw.sample(checks, 2)]
        own = draw.choice(([], whole, single))
        mark = marking.mark(course, CONTEXT, tried, own)
        assert (
            mark.steps[-1].points == pytest.approx(mark.points)
            if mark.points is not None
            else mark.steps[-1].points is None
        )
        assert mark.steps[0].points == mark.raw and mark.points == expected(course, tried, own)


def expected(course: Course, tried: list[Attempt], own: list[Override]) -> float | None:
    """The points as the guide says them: the attempt, overridden checks, lateness, overridden exercise."""
    if own and not own[0].check:
        return own[0].points
    counting = marking.counting_attempt(tried, course.attempts, course.late)
    if counting is None or counting.result is None:
        return None
    points = marking.apply_overrides(counting.result, own).points
    return round(points * marking.share(course.late, counting.late), 6)


def test_the_people_of_a_roster_are_looked_up_once():
    """Each student's marks ask for them, and in a class of 20,000 that was the longest part of a run."""
    own = Office(Course(), Roster((Person("ada"),), (), {}))
    assert own.people is own.people and list(own.people) == ["ada"]


def test_what_needs_a_person_comes_one_after_the_other(shown):
    page = shown.get("")
    listed = [re.sub(r"<.*?>|\s+", " ", entry) for entry in re.findall(r"<li>(.*?)</li>", page, re.S)]
    assert any("Ada Lovelace (ada), 03" in entry and "second look" in entry for entry in listed)
    assert any("Cyd Oh (cyd)" in entry and "Was my PDF read?" in entry for entry in listed)
    assert any("Nobody in these results is called nobody@x" in entry for entry in listed)
    assert any("Cyd Oh (cyd)" in entry and "could not be placed" in entry for entry in listed)
    seen, address = [], re.search(r'href="([^"]*)" accesskey="w"', page)[1]
    for _ in range(3):
        seen.append(unescape(address))
        page = shown.ask(shown.below + unescape(address))[1]
        following = re.search(r'accesskey="w" href="([^"]*)"', page)
        address = following[1] if following else "."
    assert seen[0] == f"mark?student=ada&exercise={CONTEXT}" and seen[1] == "student?student=cyd"


def test_lists_have_pages_and_order(shown):
    by_points = re.findall(r"mark\?student=(\w+)", shown.get("exercise", exercise=CONTEXT, order="points"))
    assert by_points == ["dee", "ada", "ben"]
    assert re.findall(r'<a href="student\?student=(\w+)', shown.get("students", find="LOVE")) == ["ada"]
    assert "Dée Ünal" in shown.get("students", page="-3") and shown.get("students", page="9" * 30)


# 3. What a person sets.


def test_points_and_comments_go_into_the_files_of_today(office, monkeypatch, fork_server):
    before = (office.root / "overrides.csv").read_bytes().decode()
    status, _ = office.save(
        "mark",
        "ada",
        CONTEXT,
        {f"points:{CHECK}": "0,25", "comment": "- Read\r\n=1+1", "reason": "=oral", "who": "Tina"},
    )
    assert status == 303
    text = (office.root / "overrides.csv").read_bytes().decode()
    assert text.startswith(before) and text.endswith(f"ada;{CONTEXT};0.25;'=oral;;{CHECK};Tina\r\n")
    assert (office.root / "comments.csv").read_text(
        "utf-8"
    ) == f'student,exercise,comment,who\nada,{CONTEXT},"\'- Read\n=1+1",Tina\n'
    assert office.save("student", "ada", "", {"comment": "Well done."})[0] == 303
    log = rows(office.root / "office_log.csv")
    assert [(row["who"], row["student"], row["exercise"], row["what"], row["to"]) for row in log] == [
        ("Tina", "ada", CONTEXT, f"points of {CHECK}", "0.25"), ("Tina", "ada", CONTEXT, "comment", "'- Read =1+1"),
        ("Tina", "ada", "", "comment", "Well done."),
    ]  # fmt: skip
    assert {path.stat().st_mode & 0o777 for path in office.root.glob("*_log.csv")} == {0o600}
    page = office.get("mark", student="ada", exercise=CONTEXT)
    assert "- Read\n=1+1" in page
    own = of_mark(page)[-1][1].partition(" ")[0]
    monkeypatch.setattr(run, "executor_of", Here(fork_server))
    monkeypatch.setattr(run.similar, "pairs", lambda handins, jobs: [])
    grade(office.root, monkeypatch)
    recorded = {row["student"]: row for row in rows(office.root / "results/grades.csv")}
    assert recorded["ada"][CONTEXT] == own
    assert "- Read" in (office.root / "results/ada/feedback.html").read_text("utf-8")
    assert office.save("mark", "ada", CONTEXT, {f"points:{CHECK}": "", "comment": "", "reason": "a slip"})[0] == 303
    assert (office.root / "overrides.csv").read_bytes().decode() == before
    assert marking.read_comments(office.root) == {("ada", ""): "Well done."}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"points:": "8"}, "from 0 to 7"),
        ({"points:": "-1"}, "from 0 to 7"),
        ({"points:": "nan"}, "from 0 to 7"),
        ({"points:": "many"}, "from 0 to 7"),
        ({"points:": "1", f"points:{CHECK}": "0"}, "not for both"),
        ({"points:no_check": "1"}, "has no check"),
        ({"points:": "1", "who": " "}, "who you are"),
        ({"points:": "1", "reason": ""}, "who you are"),
        ({}, "nothing was changed"),
        ({"comment": "x" * 20_001}, "at most 20,000"),
    ],
)
def test_what_the_rules_refuse_is_not_written(shown, fields, says):
    files = (path for path in shown.root.iterdir() if path.is_file() and path.name != ".office.lock")
    before = sorted((path.name, path.read_bytes()) for path in files)
    status, page = shown.save("mark", "ben", CONTEXT, {"comment": "", **fields})
    assert status == 400 and says in unescape(page)
    after = sorted((path.name, path.read_bytes()) for path in shown.root.iterdir() if path.is_file())
    assert [entry for entry in after if entry[0] != ".office.lock"] == before
    assert not (shown.root / "office_log.csv").exists()


def test_a_comment_of_several_lines_that_nobody_touched_stays_as_it_is(office):
    text = 'student,exercise,comment\nada,3,"One\r\n\U0001f469\u200d\U0001f4bb ::x"\nada,03,Two\n'
    lay(office.root, "comments.csv", text)
    assert office.save("mark", "ada", CONTEXT, {"points:": "1"})[0] == 303
    assert (office.root / "comments.csv").read_bytes().decode() == text
    assert office.save("mark", "ada", CONTEXT, {"comment": "Three"})[0] == 303
    assert marking.read_comments(office.root) == {("ada", CONTEXT): "Three"}


def test_a_hand_in_that_could_not_be_graded_needs_a_person(office):
    store = Store(office.root / "results")
    store.file.execute(
        "update handins set trouble = 'the machine broke' where student = 'ben' and exercise = ?", (CONTEXT,)
    )
    store.close()
    assert "the machine broke" in office.get("")
    page = office.get("mark", student="ben", exercise=CONTEXT)
    assert "There is no mark yet." in page and "the machine broke" in page and "the one that counts" not in page
    assert "No total yet" in office.get("student", student="ben")
    assert office.save("mark", "ben", CONTEXT, {"points:": "4"})[0] == 303
    page = office.get("mark", student="ben", exercise=CONTEXT)
    assert of_mark(page)[-1] == ("the mark", "4 of 7") and "the one that counts" not in page
    assert "the machine broke" not in office.get("")


def test_a_file_that_could_not_be_placed_is_shown_until_it_has_points(office):
    page = office.get("mark", student="cyd", exercise=CONTEXT)
    assert "There is no mark yet." in page and "context_vectors.py.pdf: it is neither" in page
    assert "Nothing was handed in." in office.get("mark", student="dee", exercise=SOFTMAX)
    assert office.save("mark", "cyd", CONTEXT, {"points:": "4"})[0] == 303
    assert "context_vectors.py.pdf" not in office.get("mark", student="cyd", exercise=CONTEXT)


def test_what_did_not_change_keeps_its_line(office):
    checks = list(catalog.find(CONTEXT).points)[:3]
    assert (
        office.save("mark", "ben", CONTEXT, {f"points:{checks[0]}": "0", f"points:{checks[1]}": "0", "who": "One"})[0]
        == 303
    )
    assert (
        office.save("mark", "ben", CONTEXT, {f"points:{checks[1]}": "0.5", f"points:{checks[2]}": "0", "who": "Two"})[0]
        == 303
    )
    own = {
        row["check"]: (row["points"], row["who"])
        for row in rows(office.root / "overrides.csv")
        if row["exercise"] == CONTEXT and row["student"] == "ben"
    }
    assert own == {checks[0]: ("0", "One"), checks[1]: ("0.5", "Two"), checks[2]: ("0", "Two")}


def test_the_second_of_two_sees_what_the_first_one_saved(office):
    second = Client(office.address, office.root).enter()
    page = second.get("mark", student="ada", exercise=CONTEXT)
    assert (
        office.save("mark", "ada", CONTEXT, {"points:": "6", "reason": "appeal", "who": "One", "comment": "Hello"})[0]
        == 303
    )
    assert office.save("mark", "ben", CONTEXT, {"points:": "6", "who": "One"})[0] == 303  # another student's: no matter
    status, text = second.save("mark", "ada", CONTEXT, {"points:": "3", "reason": "strict", "who": "Two"}, text=page)
    assert status == 409
    assert "set by hand: 6 points, by One (appeal)" in text and "Hello" in text
    assert 'value="3"' in text and 'value="strict"' in text  # what was typed is not lost
    own = [row["points"] for row in rows(office.root / "overrides.csv") if row["student"] == "ada"]
    assert own == ["6"]
    assert second.save("mark", "ada", CONTEXT, {"points:": "3", "reason": "strict", "who": "Two"}, text=text)[0] == 303
    log = [
        (row["who"], row["what"], row["from"], row["to"])
        for row in rows(office.root / "office_log.csv")
        if row["student"] == "ada"
    ]
    assert log[-2:] == [("Two", "points of the exercise", "6", "3"), ("Two", "comment", "Hello", "")]


def test_two_offices_and_many_hands_lose_no_line(office):
    """Two processes, eight threads: each saves other marks, and all of one mark fight for it."""
    with served(office.root) as other:
        jobs = [(student, exercise) for student in ("ada", "ben", "cyd", "dee") for exercise in (SOFTMAX, CONTEXT)] * 3

        def work(number: int) -> None:
            client, (student, exercise) = (office, other)[number % 2], jobs[number]
            for _ in range(100):
                status, _ = client.save("mark", student, exercise, {"comment": f"by {number}", "who": f"W{number}"})
                if status == 303:
                    return
                assert status in (409, 400)

        def patient(number: int) -> None:
            for _ in range(100):
                try:
                    return work(number)
                except AssertionError as error:
                    if "another run is writing" not in str(error):
                        raise

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(patient, range(len(jobs))))
    comments = marking.read_comments(office.root)
    last = dict.fromkeys(jobs, "")
    log = [row for row in rows(office.root / "office_log.csv") if row["what"] == "comment"]
    assert len(log) == len(jobs)
    for row in log:  # each saw what was there before
        key = row["student"], row["exercise"]
        assert row["from"] == last[key]
        last[key] = row["to"]
    assert comments == last


def test_a_request_goes_when_it_is_answered(office):
    lay(office.root, "requests/ben.md", "What about 02?")
    page = office.get("mark", student="ada", exercise=CONTEXT)
    name = re.search(r'name="answers" value="(\w+)"', page)[1]
    assert office.save("mark", "ada", CONTEXT, {"answers": name, "reason": "the mark holds"})[0] == 303
    assert "asks for a second look" in office.get("") and "Look again" not in office.get("")
    assert "What about 02?" in office.get("student", student="ben")
    assert rows(office.root / "office_log.csv")[0]["reason"] == "the mark holds"
    lay(office.root, "requests.csv", "student,exercise,request\nAda Lovelace,03,And again\n")
    assert "And again" in office.get("")


def test_points_for_an_earlier_hand_in_are_looked_at_again(office, monkeypatch, fork_server):
    assert office.save("mark", "ben", CONTEXT, {"points:": "6", "reason": "oral"})[0] == 303
    office.get("mark", student="ben", exercise=CONTEXT)
    lay(office.root, "in/ben/context_vectors.py", f"{RIGHT[CONTEXT]}\n# new\n")
    lay(office.root, "course.toml", RULES.replace('"best"', '"latest"'))
    monkeypatch.setattr(run, "executor_of", Here(fork_server))
    monkeypatch.setattr(run.similar, "pairs", lambda handins, jobs: [])
    grade(office.root, monkeypatch)
    assert "handed in again after points were set by hand" in office.get("")
    again = {"again": "1", "who": "Tina"}
    status, page = office.save("mark", "ben", CONTEXT, {**again, "reason": "oral"})
    assert status == 400 and "in other words than before" in page
    assert office.save("mark", "ben", CONTEXT, {**again, "reason": "oral, and the new file is the same"})[0] == 303
    assert "handed in again" not in office.get("")
    assert of_mark(office.get("mark", student="ben", exercise=CONTEXT))[-1][1] == "6 of 7"


def test_points_for_a_hand_in_that_was_just_replaced_are_not_saved(office, monkeypatch, fork_server):
    page = office.get("mark", student="ada", exercise=SOFTMAX)
    lay(office.root, "in/ada/softmax_naive.py", f"{RIGHT[SOFTMAX]}\n# a third one\n")
    monkeypatch.setattr(run, "executor_of", Here(fork_server))
    monkeypatch.setattr(run.similar, "pairs", lambda handins, jobs: [])
    grade(office.root, monkeypatch)
    status, text = office.save("mark", "ada", SOFTMAX, {"points:": "3"}, text=page)
    assert status == 409 and "handed in again" in text and "Attempt 3, the one that counts" in text
    assert not [row for row in rows(office.root / "overrides.csv") if row["student"] == "ada"]


def test_explain_is_live(office):
    page = office.get("mark", student="ada", exercise=CONTEXT)
    token = re.search(r'name="token" value="(\w+)"', page)[1]
    target = f"{office.below}explain?student=ada&exercise={CONTEXT}"
    status, text, _ = office.ask(target, "POST", urlencode({"token": token}))
    assert status == 200
    said = unescape(re.search(r'<pre class="output".*?>(.*?)</pre>', text, re.S)[1])
    assert "called   " in said and "The same as in the folder." in said and "1 day late" in said


def test_without_rules_or_results_it_says_what_to_do(said, tmp_path):
    done = said("office", cwd=tmp_path)
    assert done.returncode == 2 and "make course writes it" in done.stderr
    lay(tmp_path, "course.toml", "")
    done = said("office", cwd=tmp_path)
    assert done.returncode == 2 and "Grade first" in done.stderr
    assert said("office", "--port", "80", cwd=tmp_path).returncode == 2


def test_a_port_that_is_taken_is_one_sentence(shown, said, monkeypatch):
    done = said("office", "--port", str(shown.port), cwd=shown.root)
    assert done.returncode == 2 and f"port {shown.port} cannot be used" in done.stderr


def test_who_leaves_is_in_no_log(office, said):
    assert office.save("mark", "ada", CONTEXT, {"comment": "x"})[0] == 303
    assert office.save("mark", "ben", CONTEXT, {"comment": "y"})[0] == 303
    lay(office.root, "requests/ada.md", "Why?")
    done = said("forget", "ada", cwd=office.root)
    assert done.returncode == 0 and "requests name students" in done.stdout
    assert [row["student"] for row in rows(office.root / "office_log.csv")] == ["ben"]
    assert not (office.root / "requests/ada.md").exists()


# 4. In a browser.


def test_two_people_in_two_browsers_by_keyboard_alone(office):
    with browser() as chromium:
        one, two = (chromium.new_context().new_page() for _ in range(2))
        complaints: list[str] = []
        for page in (one, two):
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(office.address)
            assert page.url.endswith(office.below)  # the secret is out of sight
            alt(page, "w", "mark?student=ada")
        one.keyboard.press("Tab")
        assert one.evaluate("document.activeElement.className") == "skip"
        assert one.evaluate("getComputedStyle(document.activeElement).top") == "8px"
        one.keyboard.press("Enter")
        assert one.evaluate("document.activeElement.id") == "main"
        type_into(one, "points-0", "6")
        type_into(one, "reason", "the appeal is right")
        type_into(one, "who", "Tina")
        one.keyboard.press("Enter")
        one.wait_for_selector("[role=status]")
        type_into(two, "points-0", "2")
        type_into(two, "reason", "no")
        type_into(two, "who", "Tom")
        two.keyboard.press("Enter")
        two.wait_for_selector("[role=alert]")
        assert "set by hand: 6 points, by Tina (the appeal is right)" in two.inner_text("[role=alert]")
        assert two.input_value("#points-0") == "2"
        reach(two, "answers-1")
        two.keyboard.press("Space")
        two.keyboard.press("Enter")
        two.wait_for_selector("[role=status]")
        alt(two, "n", "mark?student=ben")
        alt(two, "p", "mark?student=ada")
        alt(two, "w", "student?student=cyd")
        assert two.input_value("#who") == "Tom" and one.input_value("#who") == "Tina"
        alt(two, "s", "students")
        reach(two, "find")
        two.keyboard.type("lovelace")
        two.keyboard.press("Enter")
        two.wait_for_url(re.compile("find=lovelace"))
        assert two.locator("tbody tr").count() == 1
        assert [one for one in complaints if "409" not in one] == []  # Chromium notes the status of the refused form
    assert [row["points"] for row in rows(office.root / "overrides.csv") if row["student"] == "ada"] == ["2"]


def alt(page, letter: str, leads_to: str) -> None:
    """Press Alt with a letter as a keyboard does: Playwright leaves out the text, without which it is no access key."""
    facts = {"modifiers": 1, "key": letter, "code": f"Key{letter.upper()}", "text": letter, "unmodifiedText": letter}
    page.context.new_cdp_session(page).send("Input.dispatchKeyEvent", {"type": "keyDown", **facts})
    page.wait_for_url(re.compile(re.escape(leads_to)))


def reach(page, id: str) -> None:
    """Press Tab until the focus is there, and look whether it can be seen."""
    for _ in range(200):
        if page.evaluate("document.activeElement.id") == id:
            break
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == id
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def type_into(page, id: str, text: str) -> None:
    reach(page, id)
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


@nightly
def test_the_pages_fit_a_phone_and_are_legible_in_the_dark(shown):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed (extra dev)").Axe()
    pages = [
        "",
        "students",
        "student?student=ben",
        f"exercise?exercise={CONTEXT}",
        f"mark?student=ada&exercise={CONTEXT}",
    ]
    with browser() as chromium:
        page = chromium.new_context(bypass_csp=True).new_page()  # for the script of axe
        page.goto(shown.address)
        for path in pages:
            page.goto(f"http://127.0.0.1:{shown.port}{shown.below}{path}")
            page.eval_on_selector_all("main details", "all => all.forEach(one => { one.open = true; })")
            for width in (320, 390, 1280):
                page.set_viewport_size({"width": width, "height": 800})
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                violations = axe.run(page).response["violations"]
                assert [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in violations] == [], path
                assert [one for one in page.evaluate(CONTRASTS) if one["ratio"] < 4.5][:5] == [], (path, scheme)
