"""What a class hands in is found: every platform's names, archives of strangers, names of all kinds."""

import io
import json
import os
import re
import shutil
import tarfile
import unicodedata
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed (extra dev)")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import catalog
from grader.catalog import paths, stubs
from grader.catalog.errors import BadSubmission, WrongUse
from grader.classroom.intake import names
from grader.classroom.intake.finder import find

pytestmark = pytest.mark.slow

ALL = catalog.exercises()
CODE = "import torch\n"
WRITTEN = re.compile(r"\.before-|\.ipynb$|^mine\.pt$")  # what a learner's commands leave beside a lesson
CONTEXT, SOFTMAX = "03_context_vectors", "02_softmax_naive"


def lay(root: Path, *files: str, content: str = CODE) -> Path:
    """Make these files; "a.zip:b/c.py" puts b/c.py into the zip a.zip. Times are all the same."""
    for file in files:
        outer, _, inner = file.partition(":")
        path = root / outer
        path.parent.mkdir(parents=True, exist_ok=True)
        if not inner:
            path.write_text(content)
            os.utime(path, (1e9, 1e9))
        elif outer.endswith(".zip"):
            with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(inner, content)
        else:
            data = content.encode()
            with tarfile.open(path, "w:gz") as archive:
                info = tarfile.TarInfo(inner)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return root


def placed(root: Path, exercises=ALL) -> dict[tuple[str, str], str]:
    """(student id, exercise) → where it lies below the root."""
    found = find(root, exercises)
    for handin in found.handins:
        assert handin.read().source == CODE
    base = root if root.is_dir() else root.parent
    return {
        (h.student.id, h.exercise): os.path.relpath(h.place, base) + (f":{h.member}" if h.member else "")
        for h in found.handins
    }


def reasons(root: Path, exercises=ALL) -> dict[str, str]:
    """Why files have no mark, by place."""
    found = find(root, exercises)
    return {entry.file: entry.note for entry in found.others}


# Layouts.


NAMED = (  # what a student of a class in all exercises calls the file of 03; answer.py is the only one in its folder
    "03_context_vectors/context_vectors.py", "03_context_vectors/context_vectors.ipynb", "03.py", "ex03.py", "3.py",
    "03_context_vectors/03_context_vectors.py", "03_context_vectors/answer.py", "context_vectors.py",
    "Context-Vectors.PY", "03_context_vectors.py", "exercise-3.py", "context_vectors (1).py", "context_vectors-2.py",
    "context_vectors_final.py", "Copy of 03_context_vectors.ipynb", "Copy_of_Copy_of_context_vectors (1).ipynb",
    "Kopie von 03_context_vectors.ipynb", unicodedata.normalize("NFD", "Cópia de context_vectors.ipynb"),
    "deep/er/context_vectors.py", "homework.zip:context_vectors.py",
    "homework.tgz:hw/03_context_vectors/context_vectors.py",
)  # fmt: skip
NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": CODE}]})


@pytest.mark.parametrize("file", NAMED)
def test_names_of_a_students_file(tmp_path, file):
    lay(tmp_path, f"ada/{file}", content=NOTEBOOK if file.endswith("ipynb") else CODE)
    lay(tmp_path, "bob/01_dot_product_scores/dot_product_scores.py")
    found = find(tmp_path, ALL)
    assert {(h.student.id, h.exercise) for h in found.handins} == {("ada", CONTEXT), ("bob", "01_dot_product_scores")}
    assert not found.misplaced and len(found.handins) == 2
    assert all("import torch" in handin.read().source for handin in found.handins)


PLACED, PERSON, NOTHING = "placed", "needs a person", "nothing"
# What a student of an assignment in 03 hands in, and what becomes of it.
HANDED_IN = {
    "context_vectors.py.txt": PLACED, "context_vectors.ipynb.txt": PLACED, "context_vectors.ipynb.json": PLACED,
    "my_solution.py": PLACED, "übung3.py": PLACED, unicodedata.normalize("NFD", "Lösung.py"): PLACED,
    "exercises/03_context_vectors/context_vectors.py": PLACED, "hw.zip:hw/context_vectors.py": PLACED,
    "context_vectors.docx": PERSON, "report.pdf": PERSON, "hw.rar": PERSON, "photo.png": PERSON,
    "03_softmax_naive.py": PERSON, "test_context_vectors.py": PERSON, ".context_vectors.py": PERSON,
    "__MACOSX/._context_vectors.py": NOTHING, "02_softmax_naive.py": NOTHING,
}  # fmt: skip


def test_whatever_a_student_calls_it_is_placed_or_listed(tmp_path):
    for number, file in enumerate(HANDED_IN):
        content = NOTEBOOK if ".ipynb" in file else CODE
        lay(tmp_path / f"Ä Ü_{number}_assignsubmission_file_", file, content=content)
    cut = lay(tmp_path / "x", "hw.zip:context_vectors.py") / "hw.zip"
    broken = tmp_path / "Ä Ü_900_assignsubmission_file_/hw.zip"
    broken.parent.mkdir()
    broken.write_bytes(cut.read_bytes()[:-30])
    shutil.rmtree(tmp_path / "x")
    found = find(tmp_path, [catalog.find("03")])
    placed = {handin.student.id for handin in found.handins}
    asked = {one.student.id for one in found.misplaced if one.student}
    became = {
        id: PLACED if id in placed else PERSON if id in asked else NOTHING for id in map(str, range(len(HANDED_IN)))
    }
    assert dict(zip(HANDED_IN, became.values())) == HANDED_IN and asked >= {"900"}
    assert all("context_vectors" not in one.note or one.exercise for one in found.misplaced)
    assert [handin.read().source.count(CODE) for handin in found.handins] == [1] * len(placed)


def test_moodle_and_its_zip(tmp_path):
    lay(
        tmp_path / "class",
        "Ada Lovelace_101_assignsubmission_file_/context_vectors.py",
        "Bob O'Hara_102_assignsubmission_file_/hw.zip:03_context_vectors/context_vectors.py",
        "Cyd Ü_103_assignsubmission_file_context_vectors.py",
        "Dan D_104_assignsubmission_file/context_vectors.py",
        "Eve E_105_assignsubmission_onlinetext_/onlinetext.html",
        "Fay F_106_assignsubmission_file_answers.zip:context_vectors.py",
    )
    whole = zipped(tmp_path / "class")
    for root in (tmp_path / "class", whole):
        found = find(root, ALL)
        assert set(placed(root)) == {(str(number), CONTEXT) for number in (101, 102, 103, 104, 106)}
        assert [s.name for s in found.students] == ["Ada Lovelace", "Bob O'Hara", "Cyd Ü", "Dan D", "Fay F"]
        assert [entry.file for entry in found.others] == ["Eve E_105_assignsubmission_onlinetext_"]
        assert "Moodle" in found.layout


def test_canvas_with_late_and_later_files(tmp_path):
    lay(
        tmp_path,
        "lovelaceada_101_9001_context_vectors.py",
        "lovelaceada_101_9002_context_vectors-1.py",
        "haraodan_LATE_102_9003_context_vectors.py",
        "cyd_103_9004_homework.zip:softmax_naive.py",
    )
    got = placed(tmp_path)
    assert set(got) == {("101", CONTEXT), ("102", CONTEXT), ("103", SOFTMAX)}
    assert got["101", CONTEXT].endswith("-1.py")
    assert "uploaded later" in reasons(tmp_path)["lovelaceada_101_9001_context_vectors.py"]


def test_clones_of_this_repository(tmp_path):
    for user in ("ada", "bob-b"):
        lay(tmp_path / f"hw-1-{user}", ".git/config", "exercises/03_context_vectors/context_vectors.py")
        lay(
            tmp_path / f"hw-1-{user}", "solutions/03_context_vectors/context_vectors.py", "tests/test_x.py", "README.md"
        )
        lay(tmp_path / f"hw-1-{user}", ".venv/lib/softmax_naive.py", "exercises/03_context_vectors/hints.md")
    found = find(tmp_path, ALL)
    assert [(h.student.id, h.exercise) for h in found.handins] == [("ada", CONTEXT), ("bob-b", CONTEXT)]
    assert all("/exercises/" in h.place for h in found.handins)
    assert not found.misplaced
    assert "clones" in found.layout


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("CS1-03 Context vectors-77", ("Ada_1_assignsubmission_file_/mine.py", "Bob_2_assignsubmission_file_/mine.py")),
        ("03_context_vectors", ("ada_1_2_mine.py",)),
    ],
)
def test_the_name_of_a_download_says_the_exercise_however_it_is_named(tmp_path, name, files):
    lay(tmp_path, *(f"{name}/{file}" for file in files), *(f"zips/{name}.zip:{file}" for file in files))
    (tmp_path / "around").mkdir()
    shutil.copytree(tmp_path / name, tmp_path / "around" / name)
    for place in (name, f"zips/{name}.zip", "around"):
        assert set(placed(tmp_path / place)) == {(str(n), CONTEXT) for n in range(1, len(files) + 1)}, place


def test_one_exercise_asked_for(tmp_path):
    lay(tmp_path, "ada/mine.py", "bob/softmax_naive.py", "cyd/softmax_naiv.py", "dan/a.py", "dan/b.py")
    only = [catalog.find("03")]
    assert set(placed(tmp_path, only)) == {("ada", CONTEXT)}
    found = reasons(tmp_path, only)
    assert "02_softmax_naive" in found["cyd/softmax_naiv.py"]
    assert "one of 2 files" in found["dan/a.py"] and "dan/b.py" in found
    assert "bob" in {student.id for student in find(tmp_path, only).students}  # who handed in what was not asked for


@pytest.mark.parametrize("content", ["{}/context_vectors.py", "x/{}/03_context_vectors/mine.ipynb", "{}.zip:3.py"])
@pytest.mark.parametrize("outer", ["a zip in a zip", "a zip in a folder", "zips in a folder", "folders in a folder"])
def test_a_class_that_looks_like_one_student_needs_a_person(tmp_path, content, outer):
    work = lay(tmp_path / "work", *(content.format(name) for name in ("ada", "bob", "cyd")))
    root = tmp_path / "in"
    root.mkdir()
    for week in ("week1", "week2") if "s in" in outer else ("week1",):
        if outer == "folders in a folder":
            shutil.copytree(work, root / week)
        else:
            shutil.make_archive(str(root / week), "zip", work)
    if outer == "a zip in a zip":
        shutil.make_archive(str(tmp_path / "outer"), "zip", root)
        root = tmp_path / "outer.zip"
    found = find(root, ALL)
    named = {re.split("[/:.]", entry.file)[0] for entry in found.misplaced}
    assert not found.handins and named == ({"week1", "week2"} if "s in" in outer else {"week1"}), found


# Several files, and files that cannot be placed.


def test_what_lies_beside_a_lesson_is_no_answer(tmp_path):
    """Who hands in the whole folder hands in what we wrote too: it is neither listed nor in the way of an answer."""
    beside = {
        path.name
        for exercise in ALL
        for path in paths.lesson(exercise.folder).parent.iterdir()
        if path.is_file() and path.name != paths.stub(exercise.folder).name and not WRITTEN.search(path.name)
    }
    assert {"experiment.py", "figure.js", "measure_cache.py", "trained.pt"} <= beside
    lay(tmp_path, *(f"ada.zip:exercises/{CONTEXT}/{name}" for name in (*beside, "mine.py")))
    lay(tmp_path, f"bob/{CONTEXT}/context_vectors.py", f"bob/{CONTEXT}/experiment.py", f"cyd/{CONTEXT}/experiment.py")
    found = find(tmp_path, ALL)
    assert {h.student.id: os.path.basename(h.member or h.place) for h in found.handins} == {
        "ada": "mine.py", "bob": "context_vectors.py",
    }  # fmt: skip
    (cyd,) = found.misplaced
    assert (cyd.student.id, cyd.exercise) == ("cyd", CONTEXT)
    assert cyd.note == "it has the name of a file of the lesson's: call it context_vectors.py"


@pytest.mark.parametrize("answer", [".py", ".ipynb"])
def test_a_file_in_which_nothing_is_written_counts_before_none(tmp_path, answer):
    """Jupyter saves a notebook that somebody only looked at; `make update` writes a stub anew."""
    solution = paths.solution(CONTEXT).read_text("utf-8")
    texts = {answer: solution, ".ipynb" if answer == ".py" else ".py": stubs.make(solution)}
    for number, student in enumerate(("ada", "bob")):  # ada's stub is the newer one, bob's the older one
        for suffix, text in texts.items():
            if suffix == ".ipynb":
                text = json.dumps({"cells": [{"cell_type": "code", "source": text}]})
            lay(tmp_path, f"{student}/{CONTEXT}/context_vectors{suffix}", content=text)
            is_newer = (suffix == answer) == bool(number)
            os.utime(tmp_path / student / CONTEXT / f"context_vectors{suffix}", (2e9, 2e9) if is_newer else (1e9, 1e9))
    found = find(tmp_path, ALL)
    assert [Path(handin.place).suffix for handin in found.handins] == [answer, answer]
    assert len(found.others) == 2 and "nothing is written in this one" in found.others[0].note


def test_the_stated_order(tmp_path):
    lay(tmp_path, "ada/context_vectors.py", "ada/3.py", "ada/deep/context_vectors.py", "ada/context_vectors.ipynb")
    lay(tmp_path, "bob/03_context_vectors/context_vectors_old.py", "bob/03_context_vectors/context_vectors.py")
    got = placed(tmp_path)
    assert got["ada", CONTEXT] == "ada/context_vectors.py"
    assert got["bob", CONTEXT] == "bob/03_context_vectors/context_vectors.py"
    why = reasons(tmp_path)
    assert "the better name" in why["ada/3.py"]
    assert "less deep" in why["ada/deep/context_vectors.py"]
    assert "of the same time" in why["ada/context_vectors.ipynb"]
    os.utime(tmp_path / "ada/context_vectors.ipynb", (2e9, 2e9))
    assert "changed last" in reasons(tmp_path)["ada/context_vectors.py"]


def test_what_cannot_be_placed_is_told(tmp_path):
    lay(tmp_path, "ada/contxt_vectors.py", "ada/03_softmax_naive.py", "ada/report.pdf", "ada/hw.rar", "stray.py")
    lay(tmp_path, "ada/03_context_vectors/softmax_naive.py", "bob/README.md", "ada/test_context_vectors.py")
    lay(tmp_path, "cyd/softmax_naive.py")
    why = reasons(tmp_path)
    assert "is it 03_context_vectors?" in why["ada/contxt_vectors.py"]
    assert "number says 03_context_vectors" in why["ada/03_softmax_naive.py"]
    assert "lies in 03_context_vectors" in why["ada/03_context_vectors/softmax_naive.py"]
    assert "neither .py nor .ipynb" in why["ada/report.pdf"] and ".zip" in why["ada/hw.rar"]
    [stray] = [entry for entry in find(tmp_path, ALL).misplaced if entry.file == "stray.py"]
    assert "whose is it" in stray.note and stray.to_do == 'write into names.csv: "stray.py",STUDENT'
    assert "nothing for" in why["bob"]
    assert "ada/test_context_vectors.py" in why


def test_a_flood_of_other_files_is_told_shortly(tmp_path):
    lay(tmp_path, "ada/context_vectors.py", *(f"ada/{number}.png" for number in range(100)))
    left = find(tmp_path / "ada", ALL).others
    assert len(left) == 21 and "80 more files and folders of the same student" in {one.note for one in left}


def test_links_and_pipes_are_never_followed(tmp_path):
    secret = lay(tmp_path / "away", "context_vectors.py") / "context_vectors.py"
    root = lay(tmp_path / "class", "bob/softmax_naive.py", "ada/softmax_naive.py")
    (root / "ada/context_vectors.py").symlink_to(secret)
    (root / "ada/03_context_vectors").symlink_to(secret.parent)
    (root / "eve").symlink_to(secret.parent)
    os.mkfifo(root / "bob/context_vectors.py")
    assert set(placed(root)) == {("ada", SOFTMAX), ("bob", SOFTMAX)}
    assert sorted(reasons(root)) == [
        "ada/03_context_vectors",
        "ada/context_vectors.py",
        "bob/context_vectors.py",
        "eve",
    ]
    os.link(secret, root / "ada/03.py")
    with pytest.raises(BadSubmission, match="hard link"):
        next(h for h in find(root, ALL).handins if h.exercise == CONTEXT).read()


def test_a_class_whose_archive_is_damaged_is_refused(tmp_path):
    """No folder, and a file that is none: test_cli.py."""
    (tmp_path / "x.zip").write_bytes(b"no zip at all")
    with pytest.raises(WrongUse, match="damaged"):
        find(tmp_path / "x.zip", ALL)


# Archives of strangers.


def test_paths_that_lead_out_of_an_archive(tmp_path):
    lay(
        tmp_path,
        "ada.zip:../../context_vectors.py",
        "ada.zip:/etc/softmax_naive.py",
        "ada.zip:C:\\x\\01.py",
        "ada.zip:ok\\04.py",  # made by Windows
        "ada.zip:a//05.py",
        "bob.tgz:../context_vectors.py",
    )
    assert placed(tmp_path) == {("ada", "04_token_embeddings"): "ada.zip:ok\\04.py"}
    assert sum("leads out of the archive" in reason for reason in reasons(tmp_path).values()) == 5


# Whose work it is.

# Hostile entries beside honest ones, which make nobody uncertain but the newcomer.
HARMLESS = (
    "03_context_vectors.zip:ada/context_vectors.py",
    "03_context_vectors.zip:Ada_1_assignsubmission_file_/context_vectors.py",
    "context-vectors/ada/context_vectors.py", "03_context_vectors/context_vectors.py",
    "submitted/ada/03_context_vectors/context_vectors.py", "submitted/context_vectors.py",
    "exercises/03_context_vectors/context_vectors.py", "solutions/context_vectors.py", "tests/context_vectors.py",
    "grader/context_vectors.py", "venv/context_vectors.py", "03/context_vectors.py", "ex3/context_vectors.py",
    "submission_5/context_vectors.py", "grades.csv/context_vectors.py", "class.html/context_vectors.py",
    "CLASS.HTML.zip:context_vectors.py", ".grading.sqlite/context_vectors.py", "readme.md/context_vectors.py",
    "gradebook.db/context_vectors.py", "submission_metadata.yml/context_vectors.py", ".eve/context_vectors.py",
    "__MACOSX/ada/context_vectors.py", "._ada/context_vectors.py",
    "Eve_999_assignsubmission_file_x_123_assignsubmission_file_/context_vectors.py",
    "Eve_123_assignsubmission_file_x_999_assignsubmission_file_.py", "eve_103_9004_555_context_vectors.py",
    "eve_103_9004_x_999_assignsubmission_file_y.py", "eve/ada/context_vectors.py", "eve.zip:ada/context_vectors.py",
    "eve.zip:../ada/context_vectors.py", "context_vectors.py", "softmax_naive.py", "ada-3f2b1c0d/context_vectors.py",
    "a?b/context_vectors.py", "ada_ada_77_1_context_vectors.py",
)  # fmt: skip
# The same, with who is no longer certain besides.
HOSTILE = {name: set() for name in HARMLESS} | {"cyd/context_vectors.py": {"cyd"}} | dict.fromkeys(
    ("Ada/context_vectors.py", "ADA.zip:context_vectors.py", "ada.zip:context_vectors.py", "ada./context_vectors.py",
     "ada /context_vectors.py", "\uff41da/context_vectors.py", "a\u200bda/context_vectors.py"), frozenset(["ada"])
)  # fmt: skip


def honest(root: Path) -> Path:
    """Four students, two exercises each, in folders and archives."""
    for student in ("ada", "bob"):
        lay(root, f"{student}/{CONTEXT}/context_vectors.py", f"{student}/{SOFTMAX}/softmax_naive.py", content=student)
    for student in ("cyd", "dan"):
        lay(root, *(f"{student}.zip:{file}.py" for file in ("context_vectors", "softmax_naive")), content=student)
    return root


@pytest.mark.parametrize("entry", HOSTILE, ids=ascii)
def test_a_name_moves_nobody_elses_work(tmp_path, entry):
    honest(tmp_path)
    lay(tmp_path, entry, content="hostile")
    found = find(tmp_path, ALL)
    got = {(one.student.id, one.exercise): one.read().source for one in found.handins}
    certain = {"ada", "bob", "cyd", "dan"} - HOSTILE[entry]
    assert {key: text for key, text in got.items() if text != "hostile"} == {
        (student, exercise): student for student in certain for exercise in (CONTEXT, SOFTMAX)
    }
    assert sum(text == "hostile" for text in got.values()) <= 1
    if HOSTILE[entry]:
        assert len(found.misplaced) == 2 and all(one.note and one.to_do for one in found.misplaced)
    assert "hostile" in got.values() or found.others  # nobody vanishes without a word


ADA = names.ids(["Ada", "ada"])["Ada"]  # which somebody else may be called


@pytest.mark.parametrize(
    ("entries", "certain"),
    [
        (["Ada/", "ada/", f"{ADA}/"], {ADA}),
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
    assert len(found.misplaced) == len(entries) - len(certain) or certain


def test_what_is_empty_or_damaged_is_nobodys_rival(tmp_path):
    lay(tmp_path, "ada/context_vectors.py", "bob/softmax_naive.py", "Ada/README.md")
    (tmp_path / "bob.zip").write_bytes(b"no zip")
    found = find(tmp_path, ALL)
    assert {student.id for student in found.students} >= {"ada", "bob"}
    assert {handin.student.id for handin in found.handins} == {"ada", "bob"}


def test_gradescopes_people(tmp_path):
    """A group shares a folder; a person who is told of twice, or two with one id, are asked about."""
    lay(tmp_path, *(f"submission_{number}/context_vectors.py" for number in range(1, 7)))
    people = {1: [("ada", 1), ("bob", 2)], 2: [("cyd", 3)], 3: [("cyd", 3)], 4: [("", 4), ("", 5)], 5: [("", 6)]}
    text = ""
    for number, who in people.items():
        text += f"submission_{number}:\n  :submitters:\n"
        text += "".join(f"  - :name: N{n}\n" + f"    :sid: '{sid}'\n" * bool(sid) for sid, n in who)
    text += "  :results:\n    :name: evil\nsubmission_6:\n  :submitters:\n  - :name: N7\n    :email: eve@x.edu\n"
    (tmp_path / "submission_metadata.yml").write_text(text)
    found = find(tmp_path, ALL)
    assert {student.id for student in found.students} == {"ada", "bob", "submission_5", "eve@x.edu"}
    assert {student.name for student in found.students} == {"N1", "N2", "N6", "N7"}
    assert [need.file for need in found.misplaced] == ["submission_2", "submission_3", "submission_4"]


@pytest.mark.parametrize("hostile", [None, "ada", "hw-1-", "hw-1-bob-c", "zzz", "hw-1-hw-1-ada"])
def test_clones_keep_their_names_whoever_joins(tmp_path, hostile):
    for folder in ["hw-1-ada", "hw-1-bob", "hw-1-bob-b", "hw-1-c-d", "hw-1-eli", *filter(None, [hostile])]:
        lay(tmp_path, f"{folder}/.git/config", f"{folder}/exercises/{CONTEXT}/context_vectors.py")
    found = find(tmp_path, ALL)
    ids = {student.id for student in found.students}
    expected = {"ada", "bob", "bob-b", "c-d", "eli"}
    assert ids >= expected - ({"ada"} if hostile == "ada" else set())
    assert bool(found.misplaced) == (hostile == "ada")


@pytest.mark.parametrize(
    ("files", "students", "layout"),
    [
        (["submitted/ada/ps/softmax_naive.py", "source/ps/softmax_naive.py", "release/x.py"], {"ada"}, "nbgrader"),
        (["submitted/ada/ps/softmax_naive.py", "gradebook.db", "old/bob/softmax_naive.py"], {"ada"}, "nbgrader"),
        (["submitted/ada/03_context_vectors/03_context_vectors.py", "nbgrader_config.py"], {"ada"}, "nbgrader"),
        (["ada/exercises/03_context_vectors/a.py", "ada/Makefile", "ada/old/softmax_naive.py"], {"ada"}, "a folder"),
        (["exercises/03_context_vectors/a.py", "Makefile", "mine/softmax_naive.py"], {"CLASS"}, "one student"),
        (["03_context_vectors/a.py", "02_softmax_naive/b.py", "utils/helper.py"], {"CLASS"}, "one student"),
        (["03_context_vectors/ada/a.py", "02_softmax_naive/ada/b.py"], {"ada"}, "a folder"),
        (["03_context_vectors.zip:ada/a.py", "02_softmax_naive/ada/b.py"], {"ada"}, "a folder"),
        (["a/b/ada/context_vectors.py", "a/b/bob/softmax_naive.py"], {"ada", "bob"}, ""),
        (
            [
                "bob/context_vectors.py",
                "ada/week1/softmax_naive.py",
                "ada/week2/context_vectors.py",
                "ada/week3/04.py",
                "cyd/old/context_vectors.py",
                "cyd/new/context_vectors.py",
            ],
            {"ada", "bob", "cyd"},
            "a folder",
        ),
    ],
)
def test_honest_layouts_need_nobody(tmp_path, files, students, layout):
    root = lay(tmp_path / "CLASS", *files)
    for place in (root,) if any(".zip:" in file for file in files) else (root, zipped(root)):
        found = find(place, ALL)
        assert {student.id for student in found.students} == students
        assert layout in found.layout and not found.misplaced


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


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=TREES, few=st.booleans())
def test_every_file_is_told_of(tmp_path_factory, tree, few):
    """Each is a hand-in, needs a person, or is left out, by its own place or by that of a folder around it."""
    root = tmp_path_factory.mktemp("sum")
    for number, (parts, archive, file) in enumerate(tree):
        inside = "/".join([*parts, file])
        lay(root, f"{'/'.join([*parts[: number % 3], archive])}:{inside}" if archive else inside)
    found = find(root, [catalog.find("03")] if few else ALL)
    told = {entry.file for entry in found.others}
    told |= {handin.below(root) for handin in found.handins}
    for path in root.rglob("*"):
        if path.is_file():
            place = str(path.relative_to(root))
            ways = {place, *map(str, path.relative_to(root).parents)}
            assert any(one.rstrip("/") in ways or one.startswith(place) or place.startswith(one) for one in told), place


def zipped(folder: Path) -> Path:
    """The folder as one zip beside it, without the files whose names a zip cannot hold."""
    path = folder.with_name(f"{folder.name}.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            name = str(file.relative_to(folder))
            if file.is_file() and name.isprintable() and name.encode("utf-8", "replace").decode() == name:
                archive.write(file, name)
    return path
