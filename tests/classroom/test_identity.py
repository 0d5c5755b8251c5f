"""Whose work is it: no name moves another student's mark, no link is followed, and every file has one fate."""

import csv
import ctypes
import json
import os
import sys
import threading
import unicodedata
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed (extra dev)")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from in_this_process import Here
from thorough import THOROUGH

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom import handins, outputs, run
from grader.classroom.handins import Count, Found, HandIn, NeedsPerson, Student
from grader.classroom.intake import archives, beneath, collector, names
from grader.classroom.intake.finder import find
from grader.classroom.pages import class_page
from grader.classroom.summary import Summary

ALL = catalog.exercises()
CONTEXT, SOFTMAX = "03_context_vectors", "02_softmax_naive"
HONEST = {"ada", "bob", "cyd", "dan"}
SECRET = "the_solution = 1\n"
EXAMPLES = 250 if THOROUGH else 100


def lay(root: Path, *files: str) -> Path:
    """Make these files, each with its own path as content; "a.zip:b/c.py" puts b/c.py into the zip a.zip."""
    for file in files:
        outer, _, inner = file.partition(":")
        path = root / outer
        path.parent.mkdir(parents=True, exist_ok=True)
        if inner:
            with zipfile.ZipFile(path, "a") as archive:
                archive.writestr(inner, f"# {file}\n")
        else:
            path.write_text(f"# {file}\n")
    return root


def honest(root: Path) -> Path:
    """Four students, two exercises each, in folders and archives."""
    for student in ("ada", "bob"):
        lay(root, f"{student}/{CONTEXT}/context_vectors.py", f"{student}/{SOFTMAX}/softmax_naive.py")
    return lay(root, *(f"{s}.zip:{file}.py" for s in ("cyd", "dan") for file in ("context_vectors", "softmax_naive")))


def work(found: Found) -> dict[tuple[str, str], str]:
    """(student's id, exercise) → the source that would be graded."""
    return {(handin.student.id, handin.exercise): handin.read().source for handin in found.handins}


def files_of(root: Path) -> int:
    """The files that an independent look finds, where no archive is damaged or lies in another."""
    count = 0
    for path in root.rglob("*"):
        if path.suffix.lower() == ".zip" and path.is_file():
            with zipfile.ZipFile(path) as archive:
                count += sum(not info.is_dir() for info in archive.infolist())
        else:
            count += not path.is_dir() or path.is_symlink()
    return count


def closed(root: Path) -> int:
    """The same where no archive is opened: then it is one file."""
    return sum(path.is_file() for path in root.rglob("*"))


def assert_sum(count: Count) -> None:
    fates = count.to_grade + count.refused + count.needs_person + sum(count.left_out.values())
    assert count.found == fates, count


# A hostile entry beside honest ones: name → who is no longer certain, beside the newcomer.
HOSTILE = {
    "03_context_vectors.zip:ada/context_vectors.py": set(),
    "03_context_vectors.zip:Ada_1_assignsubmission_file_/context_vectors.py": set(),
    "context-vectors/ada/context_vectors.py": set(),
    "03_context_vectors/context_vectors.py": set(),
    "submitted/ada/03_context_vectors/context_vectors.py": set(),
    "submitted/context_vectors.py": set(),
    "exercises/03_context_vectors/context_vectors.py": set(),
    "solutions/context_vectors.py": set(),
    "tests/context_vectors.py": set(),
    "grader/context_vectors.py": set(),
    "venv/context_vectors.py": set(),
    "03/context_vectors.py": set(),
    "ex3/context_vectors.py": set(),
    "submission_5/context_vectors.py": set(),
    "grades.csv/context_vectors.py": set(),
    "class.html/context_vectors.py": set(),
    "CLASS.HTML.zip:context_vectors.py": set(),
    ".grading.sqlite/context_vectors.py": set(),
    "readme.md/context_vectors.py": set(),
    "gradebook.db/context_vectors.py": set(),
    "submission_metadata.yml/context_vectors.py": set(),
    ".eve/context_vectors.py": set(),
    "__MACOSX/ada/context_vectors.py": set(),
    "._ada/context_vectors.py": set(),
    "Eve_999_assignsubmission_file_x_123_assignsubmission_file_/context_vectors.py": set(),
    "Eve_123_assignsubmission_file_x_999_assignsubmission_file_.py": set(),
    "eve_103_9004_555_context_vectors.py": set(),
    "eve_103_9004_x_999_assignsubmission_file_y.py": set(),
    "eve/ada/context_vectors.py": set(),
    "eve.zip:ada/context_vectors.py": set(),
    "eve.zip:../ada/context_vectors.py": set(),
    "context_vectors.py": set(),
    "softmax_naive.py": set(),
    "ada-3f2b1c0d/context_vectors.py": set(),
    "a?b/context_vectors.py": set(),
    "Ada/context_vectors.py": {"ada"},
    "ADA.zip:context_vectors.py": {"ada"},
    "ada.zip:context_vectors.py": {"ada"},
    "cyd/context_vectors.py": {"cyd"},
    "ada./context_vectors.py": {"ada"},
    "ada /context_vectors.py": {"ada"},
    "\uff41da/context_vectors.py": {"ada"},
    "a\u200bda/context_vectors.py": {"ada"},
    "\u0430da/context_vectors.py": {"ada"},  # a Cyrillic а
    "ada_ada_77_1_context_vectors.py": set(),
}


@pytest.mark.parametrize("entry", HOSTILE, ids=ascii)
def test_a_name_moves_nobody_elses_work(tmp_path, entry):
    before = work(find(honest(tmp_path), ALL))
    assert {student for student, _ in before} == HONEST
    lay(tmp_path, entry)
    found = find(tmp_path, ALL)
    after, uncertain = work(found), HOSTILE[entry]
    assert {key: after.get(key) for key in before} == {k: None if k[0] in uncertain else v for k, v in before.items()}
    added = {student for student, _ in after} - HONEST
    assert len(added) <= 1 and all(entry in after[key] for key in after if key[0] in added)
    if uncertain:
        (need,) = found.needs_person
        assert uncertain <= set(need.who) and len(need.where) == 2 and need.why and need.to_do
    assert_sum(found.count)
    assert closed(tmp_path) <= found.count.found <= files_of(tmp_path)
    told = [*found.needs_person, *found.misplaced, *found.count.left_out]
    assert added or told  # nobody vanishes without a word


@pytest.mark.parametrize(
    ("entries", "certain"),
    [
        (["Ada/", "ada/", f"Ada-{names._digest('Ada')[:8]}/"], {f"Ada-{names._digest('Ada')[:8]}"}),
        ([unicodedata.normalize(form, "Zoë") + "/" for form in ("NFC", "NFD")], set()),
        (["Ada_101_assignsubmission_file_/", "101/"], set()),
        (["Ada_101_assignsubmission_file_/", "Eve_101_assignsubmission_file_/"], set()),
        (["ada_101_9001_", "eve_101_9002_"], set()),
        (["ada_101_9001_", "Ada_101_assignsubmission_file_/"], set()),
        (["Ada_101_assignsubmission_file_/", "Ada_101_assignsubmission_file_"], {"101"}),
        (["ada_101_9001_", "ada_LATE_101_9002_"], {"101"}),
        (["ada_101_9001_03_", "bob_102_9002_3_"], {"101", "102"}),
        (["मीना/", "मोना/"], {names.ids(["मीना"])["मीना"], names.ids(["मोना"])["मोना"]}),
        (["José/", "Jose/"], {"José", "Jose"}),
    ],
    ids=lambda value: ascii(sorted(value)),
)
def test_who_is_certain(tmp_path, entries, certain):
    lay(tmp_path, "zoe/softmax_naive.py", *(f"{entry}context_vectors.py" for entry in entries))
    found = find(tmp_path, ALL)
    assert {student.id for student in found.students} == {"zoe", *certain}
    assert len({where for need in found.needs_person for where in need.where}) == len(entries) - len(certain) or certain
    assert_sum(found.count)


def test_what_is_empty_or_damaged_is_nobodys_rival(tmp_path):
    lay(tmp_path, "ada/context_vectors.py", "bob/softmax_naive.py", "Ada/README.md")
    (tmp_path / "bob.zip").write_bytes(b"no zip")
    found = find(tmp_path, ALL)
    assert {student.id for student in found.students} == {"ada", "bob"} and not found.needs_person
    assert "bob.zip" in {entry.path for entry in found.misplaced}


def test_gradescopes_people(tmp_path):
    """A group shares a folder; a person who is told of twice, or two with one id, are asked about."""
    lay(tmp_path, *(f"submission_{number}/context_vectors.py" for number in range(1, 7)))
    people = {1: [("ada", 1), ("bob", 2)], 2: [("cyd", 3)], 3: [("cyd", 3)], 4: [("", 4), ("", 5)], 5: [("", 6)]}
    text = ""
    for number, who in people.items():
        text += f"submission_{number}:\n  :submitters:\n"
        text += "".join(f"  - :name: N{n}\n" + f"    :sid: '{sid}'\n" * bool(sid) for sid, n in who)
    (tmp_path / "submission_metadata.yml").write_text(text)
    found = find(tmp_path, ALL)
    assert {student.id for student in found.students} == {"ada", "bob", "submission_5", "submission_6"}
    assert [need.where for need in found.needs_person] == [("submission_2", "submission_3"), ("submission_4",)]
    assert found.count.to_grade == 3 and found.count.found == 7
    assert_sum(found.count)


@pytest.mark.parametrize("hostile", [None, "ada", "hw-1-", "hw-1-bob-c", "zzz", "hw-1-hw-1-ada"])
def test_clones_keep_their_names_whoever_joins(tmp_path, hostile):
    for folder in ["hw-1-ada", "hw-1-bob", "hw-1-bob-b", "hw-1-c-d", "hw-1-eli", *filter(None, [hostile])]:
        lay(tmp_path, f"{folder}/.git/config", f"{folder}/exercises/{CONTEXT}/context_vectors.py")
    found = find(tmp_path, ALL)
    ids = {student.id for student in found.students}
    expected = {"ada", "bob", "bob-b", "c-d", "eli"}
    assert ids >= expected - ({"ada"} if hostile == "ada" else set())
    assert bool(found.needs_person) == (hostile == "ada")


@pytest.mark.parametrize("hostile", ["ADA", "ada.zip", "a:b", "grades.csv", "ada-12345678", "con", " "])
def test_an_id_does_not_hang_on_others(hostile):
    keys = ["ada", "grades.csv", "Zoë O'Hara", "ada-12345678", "bob"]
    alone, beside = names.ids(keys), names.ids([*keys, hostile])
    assert all(alone[key] == beside[key] for key in keys if key.casefold() != hostile.casefold())
    assert not {id for id in beside.values() if id.endswith((".csv", ".html", ".json", ".sqlite"))}


# Layouts that are what they say.


@pytest.mark.parametrize(
    ("files", "students", "layout"),
    [
        (["submitted/ada/ps/softmax_naive.py", "source/ps/softmax_naive.py", "release/x.py"], {"ada"}, "nbgrader"),
        (["submitted/ada/ps/softmax_naive.py", "gradebook.db", "old/bob/softmax_naive.py"], {"ada"}, "nbgrader"),
        (["submitted/ada/ps/softmax_naive.py", "notes/plan.txt"], {"ada"}, "nbgrader"),
        (["ada/exercises/03_context_vectors/a.py", "ada/Makefile", "ada/old/softmax_naive.py"], {"ada"}, "a folder"),
        (["exercises/03_context_vectors/a.py", "Makefile", "mine/softmax_naive.py"], {"CLASS"}, "one student"),
        (["03_context_vectors/a.py", "02_softmax_naive/b.py", "utils/helper.py"], {"CLASS"}, "one student"),
        (["03_context_vectors/ada/a.py", "02_softmax_naive/ada/b.py", "scripts/collect.py"], {"ada"}, "a folder"),
        (["03_context_vectors.zip:ada/a.py", "02_softmax_naive/ada/b.py"], {"ada"}, "a folder"),
    ],
)
def test_honest_layouts_need_nobody(tmp_path, files, students, layout):
    root = lay(tmp_path / "CLASS", *files)
    found = find(root, ALL)
    assert {student.id for student in found.students} == students
    assert layout in found.layout and not found.needs_person
    assert_sum(found.count)
    assert found.count.found == files_of(root)


# Every file has one fate.

PARTS = st.sampled_from(
    ["ada", "Ada", "eve", ".git", "__MACOSX", "venv", "submitted", "exercises", CONTEXT, SOFTMAX, "x",
     "submission_1", "A_1_assignsubmission_file_", "A_1_assignsubmission_onlinetext_"]
)  # fmt: skip
FILES = st.sampled_from(
    ["context_vectors.py", "softmax_naive.ipynb", "3.py", "mine.py", "test_x.py", "README.md", "report.pdf",
     ".DS_Store", "._context_vectors.py", "contxt_vectors.py", "02_context_vectors.py", "a_1_2222_3.py",
     "nbgrader_config.py", "submission_metadata.yml"]
)  # fmt: skip
TREES = st.lists(
    st.tuples(
        st.lists(PARTS, max_size=4).map(tuple),
        st.none() | st.sampled_from(["ada.zip", CONTEXT + ".zip", "Z.ZIP"]),
        FILES,
    ),
    max_size=12,
    unique=True,
)


@settings(
    max_examples=250 if THOROUGH else 100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tree=TREES, few=st.booleans())
def test_the_sum_is_what_was_found(tmp_path_factory, tree, few):
    root = tmp_path_factory.mktemp("sum")
    for number, (parts, archive, file) in enumerate(tree):
        inside = "/".join([*parts, file])
        lay(root, f"{'/'.join([*parts[: number % 3], archive])}:{inside}" if archive else inside)
    found = find(root, [catalog.find("03")] if few else ALL)
    assert_sum(found.count)
    assert found.count.complete
    assert closed(root) <= found.count.found <= files_of(root)
    assert found.count.to_grade == len({(h.place, h.member) for h in found.handins})


def test_members_that_share_a_name_are_counted(tmp_path):
    with pytest.warns(UserWarning):
        lay(tmp_path, "ada.zip:context_vectors.py", "ada.zip:context_vectors.py", "ada.zip:./context_vectors.py")
    lay(tmp_path, "ada.zip:x/3.py", "ada.zip:x", "bob/softmax_naive.py")
    found = find(tmp_path, ALL)
    assert found.count.found == files_of(tmp_path) == 6
    assert sum("another entry" in entry.reason for entry in found.misplaced) == 3
    assert_sum(found.count)


def test_what_is_too_much_is_counted_or_told(tmp_path, monkeypatch):
    from grader.classroom.intake import collector, walker

    monkeypatch.setattr(walker, "MOST_ENTRIES", 30)
    lay(tmp_path, "bob/softmax_naive.py", *(f"ada/{n // 10}/{n}.py" for n in range(60)), "/".join("x" * 30) + "/3.py")
    found = find(tmp_path, ALL)
    assert found.count.found == 62 and found.count.complete
    assert_sum(found.count)
    monkeypatch.setattr(collector, "MOST_DEEP", 5)
    found = find(tmp_path, ALL)
    assert not found.count.complete and "at least" in handins.sum_line(found.count)


def test_the_words():
    count = Count(120, 98, 3, 2, {"hidden": 10, "README and the like": 7})
    expected = "98 graded, 3 refused, 2 need a person, 17 left out (10 hidden; 7 README and the like)."
    assert handins.sum_line(count, "graded") == f"120 files found: {expected}"
    evil = NeedsPerson(("<script>",), ("<img src=x>",), "<b>why</b>", "<i>do</i>", 2)
    text = class_page.render(Summary([]), submissions=Found("", (), (), (evil,), count)).text
    assert "&lt;script&gt;" in text and "<img" not in text and "<b>why" not in text


# Where the results are.


def test_results_do_not_stand_among_the_submissions(tmp_path, said):
    """A student's folder may be called as they are, and hold a store of results of the student's own making."""
    lay(tmp_path, "ada/softmax_naive.py", "results/softmax_naive.py")
    for out in (tmp_path / "results", tmp_path / "new", tmp_path):
        done = said("grade", str(tmp_path), "--out", str(out))
        assert done.returncode == 2 and "Name another" in done.stderr
    assert not (tmp_path / "new").exists() and not list(tmp_path.rglob(".grading.sqlite"))


@pytest.mark.parametrize("alike", [False, True])
def test_who_is_called_alike_in_another_exercise_stops_nobodys_results(tmp_path, alike, monkeypatch):
    """An earlier run's Ada, for another exercise, beside this one's ada; on a file system that ignores case, too."""
    if alike:
        monkeypatch.setattr(Path, "samefile", lambda one, other: one.name.casefold() == other.name.casefold())
    students = [(Student(id, id), []) for id in ("Ada", "ada", "bob", "x/y")]
    with pytest.raises(outputs.Unwritten, match="ada would overwrite those of Ada" if alike else "x/y cannot"):
        outputs.write(tmp_path, students, [SOFTMAX])
    written = {path.parent.name for path in tmp_path.glob("*/result.json")}
    assert written == {"Ada", "bob"} | ({"ada"} - ({"ada"} if alike else set()))
    rows = list(csv.DictReader((tmp_path / "grades.csv").open()))
    assert [row["student"] for row in rows] == ["Ada", "ada", "bob", "x/y"] and (tmp_path / "class.html").exists()


# No link is followed, whenever it comes.


def swap(one: Path, other: Path) -> None:
    """Exchange two entries at once, as renameat2 does."""
    done = ctypes.CDLL(None, use_errno=True).renameat2(-100, os.fsencode(one), -100, os.fsencode(other), 2)
    if done:
        raise OSError(ctypes.get_errno(), "renameat2")


class Swapping(threading.Thread):
    """Exchanges two entries until it is stopped: another thread, while the interpreter waits for the kernel."""

    def __init__(self, one: Path, other: Path):
        super().__init__(daemon=True)
        self.pair, self.stop, self.swaps = (one, other), threading.Event(), 0

    def run(self) -> None:
        while not self.stop.is_set():
            swap(*self.pair)
            self.swaps += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.join()


@pytest.mark.skipif(sys.platform != "linux", reason="renameat2 is Linux's")
@pytest.mark.parametrize("deep", ["eve", f"eve/{CONTEXT}", f"eve/{CONTEXT}/context_vectors.py", "eve/hw.zip"])
def test_a_folder_that_turns_into_a_link_is_never_entered(tmp_path, deep):
    """The walk and the reading, a hundred times, while a part of the path is exchanged for a link and back."""
    root, away = tmp_path / "class", tmp_path / "away"
    lay(root, f"eve/{CONTEXT}/context_vectors.py", f"eve/hw.zip:{SOFTMAX}/softmax_naive.py", "bob/softmax_naive.py")
    target = away / Path(deep).relative_to("eve") if deep != "eve" else away
    (away / CONTEXT).mkdir(parents=True)
    (away / CONTEXT / "context_vectors.py").write_text(SECRET)
    with zipfile.ZipFile(away / "hw.zip", "w") as archive:
        archive.writestr(f"{SOFTMAX}/softmax_naive.py", SECRET)
    link = tmp_path / "link"
    link.symlink_to(target)
    known, seen = find(root, ALL).handins, set()
    with Swapping(root / deep, link) as attack:
        for turn in range(1000 if THOROUGH else 120):
            for handin in known if turn % 3 else find(root, ALL).handins:
                try:
                    seen.add(handin.read().source)
                except (BadSubmission, NoSuchFile) as error:
                    seen.add(type(error).__name__)
    assert attack.swaps > 50
    assert SECRET not in seen
    assert any("bob" in text for text in seen)


def test_what_stands_before_the_border_may_be_a_link(tmp_path):
    lay(tmp_path / "real", "ada/context_vectors.py", "bob/softmax_naive.py")
    (tmp_path / "link").symlink_to("real")
    assert len(work(find(tmp_path / "link", ALL))) == 2
    (tmp_path / "real/ada/more").symlink_to("..")
    place = beneath.place(tmp_path / "link", "ada", "more", "bob", "softmax_naive.py")
    with pytest.raises(BadSubmission, match="symbolic link"):
        beneath.read(place, 100)
    with pytest.raises(BadSubmission, match="symbolic link"):
        HandIn(Student("x"), SOFTMAX, place).read()
    with pytest.raises(BadSubmission, match="symbolic link"):
        archives.tree(beneath.place(tmp_path / "link", "ada", "more", "x.zip"))
    with pytest.raises(OSError):
        list(beneath.entries(beneath.place(tmp_path / "link", "ada", "more")))
    assert [entry.kind for entry in collector.root_folder(tmp_path / "link").children()] == ["dir", "dir"]


# The whole command.


def test_a_class_with_hostile_names_is_graded_and_told(tmp_path, said, fork_server, monkeypatch):
    """Exit code 3, the sum on the first line, what to do, and honest marks as they were."""
    monkeypatch.setattr(run, "executor_of", Here(fork_server))
    root = tmp_path / "in"
    for student in ("ada", "bob"):
        path = root / student / CONTEXT / "context_vectors.py"
        path.parent.mkdir(parents=True)
        path.write_text(paths.solution(CONTEXT).read_text("utf-8"))

    def grade(out: str) -> tuple[int, str, dict]:
        done = said("grade", root, "--out", tmp_path / out, "--log", tmp_path / f"{out}.log")
        with (tmp_path / out / "grades.csv").open(encoding="utf-8", newline="") as file:
            return done.returncode, done.stderr, {row["student"]: row for row in csv.DictReader(file)}

    code, _, before = grade("before")
    assert code == 0 and set(before) == {"ada", "bob"}
    lay(root, "submitted/ada/03_context_vectors/context_vectors.py", "03_context_vectors.zip:bob/context_vectors.py")
    lay(root, "Eve/context_vectors.py", "eve/context_vectors.py", "grades.csv/context_vectors.py", "ada/.git/config")
    old = tmp_path / "after/eve/result.json"  # of a run before Eve came, when eve was certain
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    code, told, after = grade("after")
    assert "pages of an earlier run that count no more, for who has no mark now: eve" in told
    assert code == 3
    first = told.splitlines()[0]
    assert first == "8 files found: 3 to grade, 0 refused, 4 need a person, 1 left out (1 hidden)."
    assert {name: after[name] for name in before} == before
    assert len(after) == 3 and (tmp_path / "after/grades.csv").is_file()
    assert told.count("needs a person:") == 3 and "what to do:" in told
    (event,) = [e for e in map(json.loads, (tmp_path / "after.log").read_text().splitlines()) if e["event"] == "found"]
    assert event["files"]["needs_person"] == 4 and {"Eve", "eve"} in [
        set(need["who"]) for need in event["needs_person"]
    ]
    text = (tmp_path / "after/class.html").read_text("utf-8")
    assert 'id="needs-person"' in text and "8 files found: 3 graded" in text
