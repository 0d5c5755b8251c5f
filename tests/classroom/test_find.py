"""What a class hands in is found: every platform's names, archives of strangers, names of all kinds."""

import io
import json
import os
import re
import shutil
import stat
import tarfile
import unicodedata
import zipfile
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed (extra dev)")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import catalog
from grader.catalog import paths, stubs
from grader.catalog.errors import BadSubmission, WrongUse
from grader.classroom.intake import archives, names
from grader.classroom.intake.finder import find
from grader.records.sanitize import label

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
    return {entry.path: entry.reason for entry in find(root, exercises).misplaced}


# Layouts.


@pytest.mark.parametrize(
    "file",
    [
        "03_context_vectors/context_vectors.py",
        "03_context_vectors/context_vectors.ipynb",
        "03_context_vectors/03_context_vectors.py",
        "03_context_vectors/answer.py",  # the only one there
        "context_vectors.py",
        "Context-Vectors.PY",
        "03_context_vectors.py",
        "3.py",
        "03.py",
        "ex03.py",
        "exercise-3.py",
        "context_vectors (1).py",
        "context_vectors-2.py",
        "context_vectors_final.py",
        "Copy of 03_context_vectors.ipynb",
        "Copy_of_Copy_of_context_vectors (1).ipynb",
        "Kopie von 03_context_vectors.ipynb",
        unicodedata.normalize("NFD", "Cópia de context_vectors.ipynb"),
        "deep/er/context_vectors.py",
        "homework.zip:context_vectors.py",
        "homework.tgz:hw/03_context_vectors/context_vectors.py",
    ],
)
def test_names_of_a_students_file(tmp_path, file):
    content = CODE if not file.endswith("ipynb") else '{"cells": [{"cell_type": "code", "source": ["import torch"]}]}'
    lay(tmp_path, f"ada/{file}", content=content)
    lay(tmp_path, "bob/01_dot_product_scores/dot_product_scores.py")
    found = find(tmp_path, ALL)
    assert {(h.student.id, h.exercise) for h in found.handins} == {("ada", CONTEXT), ("bob", "01_dot_product_scores")}
    assert not found.misplaced
    assert "import torch" in found.handins[0].read().source


def test_nbgrader_course(tmp_path):
    lay(tmp_path, "submitted/ada/03_context_vectors/03_context_vectors.py", "submitted/bob/ps1/softmax_naive.py")
    lay(tmp_path, "source/ps1/softmax_naive.py", "nbgrader_config.py", "gradebook.db")
    expected = {("ada", CONTEXT), ("bob", SOFTMAX)}
    for root in (tmp_path, tmp_path / "submitted"):
        assert set(placed(root)) == expected
    assert "nbgrader" in find(tmp_path, ALL).layout
    assert set(placed(tmp_path / "submitted/ada")) == {("ada", CONTEXT)}


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
        assert [entry.path for entry in found.misplaced] == ["Eve E_105_assignsubmission_onlinetext_"]
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
    assert "late" in find(tmp_path, ALL).layout


def test_one_archive_a_student_and_all_in_one(tmp_path):
    lay(
        tmp_path / "all",
        "ada.zip:context_vectors.py",
        "bob.tar.gz:bob/03_context_vectors/context_vectors.py",
        "cyd.tgz:softmax_naive.py",
    )
    expected = {("ada", CONTEXT), ("bob", CONTEXT), ("cyd", SOFTMAX)}
    assert set(placed(tmp_path / "all")) == expected
    assert set(placed(zipped(tmp_path / "all"))) == expected


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


def test_gradescopes_export(tmp_path):
    lay(tmp_path, "submission_1/context_vectors.py", "submission_2/context_vectors.py", "submission_3/softmax_naive.py")
    (tmp_path / "submission_metadata.yml").write_text(
        "submission_1:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: '77'\n    :email: ada@x.edu\n"
        "  :created_at: 2026-01-01\n  :results:\n    :name: evil\n"
        "submission_2:\n  :submitters:\n  - :name: Bob\n    :email: bob@x.edu\n  - :name: Cyd\n    :sid: '78'\n"
    )
    got = placed(tmp_path)
    assert set(got) == {("77", CONTEXT), ("bob@x.edu", CONTEXT), ("78", CONTEXT), ("submission_3", SOFTMAX)}
    assert {s.name for s in find(tmp_path, ALL).students} == {"Ada Lovelace", "Bob", "Cyd", "submission_3"}


@pytest.mark.parametrize(
    ("written", "hour"),
    [
        ("2026-11-22 21:10:26.409000000 Z", 21),
        ("2026-11-22T13:10:26-08:00", 21),
        ("'2026-11-22 22:10:26 +0100'", 21),
        ("2026-11-22 21:10:26", 21),
        ("2026-11-22", None),
        ("2026-13-45 21:10:26 Z", None),
    ],
)
def test_gradescopes_export_says_when_each_folder_was_handed_in(tmp_path, written, hour):
    lay(tmp_path, "submission_1/context_vectors.py", "submission_2/context_vectors.py")
    (tmp_path / "submission_metadata.yml").write_text(
        f"submission_1:\n  :submitters:\n  - :name: Ada\n    :sid: '77'\n  :created_at: {written}\n  :history:\n"
        "  - :id: 5\n    :created_at: 2026-11-01 10:00:00.0 Z\nsubmission_2:\n  :submitters:\n  - :sid: '78'\n"
    )
    times = {handin.student.id: handin.origin.time for handin in find(tmp_path, ALL).handins}
    assert times["78"] is None
    expected = None if hour is None else datetime(2026, 11, 22, hour, 10, 26, tzinfo=timezone.utc)
    assert times["77"] == expected


def test_one_download_an_exercise(tmp_path):
    lay(
        tmp_path,
        "03_context_vectors/Ada_1_assignsubmission_file_/mine.py",
        "02_softmax_naive.zip:Ada_1_assignsubmission_file_/mine.py",
    )
    assert set(placed(tmp_path)) == {("1", CONTEXT), ("1", SOFTMAX)}


@pytest.mark.parametrize("name", ["CS1-03 Context vectors-77", "03_context_vectors"])
@pytest.mark.parametrize("people", [("Ada_1_assignsubmission_file_", "Bob_2_assignsubmission_file_"), ("ada_1_2_",)])
def test_the_name_of_a_download_says_the_exercise_however_it_is_named(tmp_path, name, people):
    files = [
        f"{person}/mine.py".replace("_/", "_") if person.startswith("a") else f"{person}/mine.py" for person in people
    ]
    lay(tmp_path, *(f"{name}/{file}" for file in files), *(f"zips/{name}.zip:{file}" for file in files))
    both = {(key, CONTEXT) for key in ("1", "2")[: len(people)]}
    assert set(placed(tmp_path / name)) == both
    assert set(placed(tmp_path / f"zips/{name}.zip")) == both
    (tmp_path / "alone").mkdir()
    (tmp_path / name).rename(tmp_path / "alone" / name)
    assert set(placed(tmp_path / "alone")) == both


def test_a_folder_of_students_is_no_download_whatever_its_name_says(tmp_path):
    lay(tmp_path, "CS1-03 Context vectors-77/ada/softmax_naive.py", "CS1-03 Context vectors-77/bob/softmax_naive.py")
    assert set(placed(tmp_path / "CS1-03 Context vectors-77")) == {("ada", SOFTMAX), ("bob", SOFTMAX)}


def test_one_exercise_asked_for(tmp_path):
    lay(tmp_path, "ada/mine.py", "bob/softmax_naive.py", "cyd/softmax_naiv.py", "dan/a.py", "dan/b.py")
    only = [catalog.find("03")]
    assert set(placed(tmp_path, only)) == {("ada", CONTEXT)}
    found = reasons(tmp_path, only)
    assert "02_softmax_naive" in found["cyd/softmax_naiv.py"]
    assert "context_vectors.py" in found["dan/a.py"] and "dan/b.py" in found
    assert "nothing for 03" in found["bob"]


def test_a_download_beside_entries_of_students_is_asked_about(tmp_path):
    """It could be one student's archive with others' names in it. So it is told what to do with a download."""
    (tmp_path / "Ada").mkdir()
    (tmp_path / "Ada/context_vectors.py").write_text("x = 1\n")
    for name, people in (("submissions (1)", (1, 2)), ("grace", (3, 3))):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            for count, number in enumerate(people):
                archive.writestr(f"hoppergrace_{number}_{count}7_context_vectors.py", "x = 1\n")
    found = find(tmp_path, catalog.find_all(None))
    (need,) = found.needs_person
    assert need.where == ("submissions (1).zip",) and "let only downloads lie here" in need.to_do
    assert {handin.student.id for handin in found.handins} >= {"Ada"}


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
    named = {need.where[0].removesuffix(".zip") for need in found.needs_person} | {
        one.student.id for one in found.unplaced
    }
    assert not found.handins and named == ({"week1", "week2"} if "s in" in outer else {"week1"}), found
    count = found.count
    assert count.found == count.to_grade + count.refused + count.needs_person + sum(count.left_out.values())


def test_one_students_weeks_and_attempts_are_one_students(tmp_path):
    lay(tmp_path, "bob/context_vectors.py", "ada/week1/softmax_naive.py", "ada/week2/context_vectors.py")
    lay(tmp_path, "ada/week3/04.py", "cyd/old/context_vectors.py", "cyd/new/context_vectors.py")
    found = find(tmp_path, ALL)
    assert not found.needs_person and {handin.student.id for handin in found.handins} == {"ada", "bob", "cyd"}


def test_a_whole_download_below_other_folders(tmp_path):
    lay(tmp_path, "a/b/ada/context_vectors.py", "a/b/bob/softmax_naive.py")
    assert set(placed(tmp_path)) == {("ada", CONTEXT), ("bob", SOFTMAX)}


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
    assert not [entry for entry in found.misplaced if entry.path.startswith(("ada", "bob"))]
    assert found.count.left_out == {"README and the like": len(beside) + 2}
    (cyd,) = found.unplaced
    assert cyd.why == "experiment.py: it has the name of a file of the lesson's: call it context_vectors.py"


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
    assert len(found.misplaced) == 2 and "in the other one nothing is written" in found.misplaced[0].reason


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


@pytest.mark.parametrize(
    "names, told",
    [
        (
            ["CausalAttention", "MultiHeadAttentionWrapper"],
            "what 11 asks for: call it 11, or name that exercise alone (EX=11)",
        ),
        (["SelfAttention_v1", "SelfAttention_v2", "helper"], "what 07 and 08 ask for: call it by one of these numbers"),
        (["MultiHeadAttention", "LayerNorm"], "what 13 asks for"),
        (["helper"], "call it by the exercise's slug or number"),
    ],
)
def test_code_whose_name_says_no_exercise_may_be_known_by_what_it_defines(tmp_path, names, told):
    lay(tmp_path, "ada/attention.py", content="".join(f"class {name}:\n    pass\n" for name in names))
    assert told in reasons(tmp_path)["ada/attention.py"]


def test_a_name_that_many_exercises_end_with_is_none_of_them(tmp_path):
    lay(tmp_path, "ada/attention.py", "bob/my_attention.py")
    assert not any("did you mean" in reason for reason in reasons(tmp_path).values())
    alone = tuple(one for one in ALL if one.folder == CONTEXT)
    assert ("ada", CONTEXT) in placed(tmp_path, alone)


def test_what_cannot_be_placed_is_told(tmp_path):
    lay(tmp_path, "ada/contxt_vectors.py", "ada/03_softmax_naive.py", "ada/report.pdf", "ada/hw.rar", "stray.py")
    lay(tmp_path, "ada/03_context_vectors/softmax_naive.py", "bob/README.md", "ada/test_context_vectors.py")
    why = reasons(tmp_path)
    assert "did you mean 03_context_vectors?" in why["ada/contxt_vectors.py"]
    assert "number says 03_context_vectors" in why["ada/03_softmax_naive.py"]
    assert "lies in 03_context_vectors" in why["ada/03_context_vectors/softmax_naive.py"]
    assert "neither .py nor .ipynb" in why["ada/report.pdf"] and ".zip" in why["ada/hw.rar"]
    (stray,) = find(tmp_path, ALL).needs_person
    assert stray.where == ("stray.py",) and "whose is it" in stray.why
    assert "nothing for" in why["bob"]
    assert "ada/test_context_vectors.py" in why


def test_a_flood_of_other_files_is_told_shortly(tmp_path):
    lay(tmp_path, "bob/context_vectors.py", *(f"ada/{number}.bin" for number in range(100)))
    assert len(reasons(tmp_path)) == 21
    assert "80 more" in reasons(tmp_path)["ada"]


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


def test_wrong_use(tmp_path):
    with pytest.raises(WrongUse, match="There is no folder"):
        find(tmp_path / "absent", ALL)
    with pytest.raises(WrongUse, match="is no folder"):
        find(lay(tmp_path, "x.py") / "x.py", ALL)
    (tmp_path / "x.zip").write_bytes(b"no zip at all")
    with pytest.raises(WrongUse, match="damaged"):
        find(tmp_path / "x.zip", ALL)


# Archives of strangers.


def test_no_hidden_folder_is_proposed(tmp_path):
    (tmp_path / ".downloads").mkdir()
    with pytest.raises(WrongUse, match=r"There is no folder .*/downloads\.$"):
        find(tmp_path / "downloads", ALL)
    (tmp_path / "download").mkdir()
    with pytest.raises(WrongUse, match=r"Did you mean .*/download\?$"):
        find(tmp_path / "downloads", ALL)


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


def test_links_in_archives(tmp_path):
    link = zipfile.ZipInfo("context_vectors.py")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    for kind, name in ((tarfile.SYMTYPE, "bob"), (tarfile.LNKTYPE, "cyd"), (tarfile.CHRTYPE, "dan")):
        with tarfile.open(tmp_path / f"{name}.tar.gz", "w:gz") as archive:
            info = tarfile.TarInfo("context_vectors.py")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    found = find(tmp_path, ALL)
    assert not found.handins and len(found.misplaced) == 4
    assert sum("links are not followed" in entry.reason for entry in found.misplaced) == 3


def test_damaged_and_encrypted_archives(tmp_path):
    whole = lay(tmp_path / "w", "ada.zip:context_vectors.py", "bob.tgz:context_vectors.py")
    root = tmp_path / "class"
    root.mkdir()
    good = (whole / "ada.zip").read_bytes()
    (root / "cut.zip").write_bytes(good[:-30])
    (root / "cut.tgz").write_bytes((whole / "bob.tgz").read_bytes()[:-20])
    (root / "none.tar.gz").write_bytes(b"hello")
    (root / "empty.zip").write_bytes(b"")
    secret = bytearray(good)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        secret[secret.index(mark) + offset] |= 1  # the flag that says "encrypted"
    (root / "secret.zip").write_bytes(secret)
    found = find(root, ALL)
    assert {entry.path for entry in found.misplaced} >= {"cut.zip", "cut.tgz", "none.tar.gz", "empty.zip"}
    handins = {h.student.id: h for h in found.handins}
    if handins:  # an encrypted file is seen when it is read
        with pytest.raises(BadSubmission, match="encrypted"):
            handins["secret"].read()
    bad = bytearray(good)
    bad[40] ^= 0xFF  # in the packed bytes
    (root / "bad.zip").write_bytes(bad)
    with pytest.raises(BadSubmission):
        next(h for h in find(root, ALL).handins if h.student.id == "bad").read()


def test_bombs(tmp_path, monkeypatch):
    zeros = bytes(32 << 20)
    with zipfile.ZipFile(tmp_path / "ratio.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("context_vectors.py", zeros)
    with tarfile.open(tmp_path / "ratio.tgz", "w:gz") as archive:
        info = tarfile.TarInfo("context_vectors.py")
        info.size = len(zeros)
        archive.addfile(info, io.BytesIO(zeros))
    with tarfile.open(tmp_path / "header.tgz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("x" * (8 << 20)))  # a name of 8 MB
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(300):
            archive.writestr(str(number), "")
    with zipfile.ZipFile(tmp_path / "large.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("context_vectors.py", "# " + "x" * (1 << 20))
    monkeypatch.setattr(archives, "STUDENT", replace(archives.STUDENT, entries=200))
    why = reasons(tmp_path)
    assert "zip bombs" in why["ratio.zip"] and "zip bombs" in why["ratio.tgz"]
    assert "table of contents" in why["header.tgz"]
    assert "more than 200 entries" in why["many.zip"]
    with pytest.raises(BadSubmission, match=r"too large: 1\.0 MB"):
        find(tmp_path, ALL).handins[0].read()


def test_a_size_that_lies(tmp_path):
    """The table of contents says 100 bytes, the member holds a megabyte."""
    lay(tmp_path, "ada.zip:context_vectors.py", content="x" * (1 << 20))
    data = bytearray((tmp_path / "ada.zip").read_bytes())
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(mark) + offset
        data[at : at + 4] = (100).to_bytes(4, "little")
    (tmp_path / "ada.zip").write_bytes(data)
    with pytest.raises(BadSubmission):
        find(tmp_path, ALL).handins[0].read()


def test_an_archive_in_a_students_archive(tmp_path):
    inner = lay(tmp_path / "x", "inner.zip:context_vectors.py") / "inner.zip"
    (tmp_path / "class").mkdir()
    with zipfile.ZipFile(tmp_path / "class/ada.zip", "w") as archive:
        archive.write(inner, "inner.zip")
    assert "unpack it" in reasons(tmp_path / "class")["ada.zip:inner.zip"]


def test_an_archive_is_never_unpacked(tmp_path):
    lay(tmp_path, "ada.zip:../../context_vectors.py", "ada.zip:softmax_naive.py")
    before = sorted(tmp_path.parent.rglob("*"))
    assert set(placed(tmp_path)) == {("ada", SOFTMAX)}
    assert sorted(tmp_path.parent.rglob("*")) == before


# Names.

NAMES = st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=60).filter(
    lambda name: name not in (".", "..") and len(name.encode()) < 200
)


@settings(deadline=None)
@given(st.lists(st.one_of(NAMES, st.sampled_from(["Ada", "ada", "ADA", "ß", "ss", "con", "-rf", ".x", "ﬁ", "fi"]))))
def test_ids_are_safe_and_one_students_alone(keys):
    found = names.ids(keys)
    assert set(found) == set(keys)
    folded = [text.casefold() for text in found.values()]
    assert len(set(folded)) == len(folded)
    for text in found.values():
        assert text and "/" not in text and "\\" not in text and text not in (".", "..")
        assert not text.startswith((".", "-")) and len(text.encode()) < 200 and text.isprintable()
    assert names.ids(reversed(keys)) == found  # whatever the order


def test_a_name_that_is_anothers_id():
    clash = names.ids(["Ada", "ada"])["Ada"]
    found = names.ids(["Ada", "ada", clash])
    assert len({text.casefold() for text in found.values()}) == 3


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(student=NAMES, file=NAMES, suffix=st.sampled_from([".py", ".ipynb", ".zip", "", ".tgz"]))
def test_any_names_in_a_zip_and_on_disk(tmp_path_factory, student, file, suffix):
    """Whatever the names: the finder ends, says only harmless lines, and its ids are folder names."""
    root = tmp_path_factory.mktemp("names")
    lay(root, "someone/context_vectors.py")
    folder = root / student
    folder.mkdir(exist_ok=True)
    (folder / (file + suffix)).write_text(CODE)
    with zipfile.ZipFile(root / "zipped.zip", "w") as archive:
        archive.writestr(student + "/" + file + suffix, CODE)
    found = find(root, ALL)
    assert ("someone", CONTEXT) in {(h.student.id, h.exercise) for h in found.handins}
    for line in [found.layout, *(e.path + e.reason for e in found.misplaced), *(s.name for s in found.students)]:
        assert harmless(line)
    for made in found.students:
        (root / "results").mkdir(exist_ok=True)
        (root / "results" / made.id).mkdir(exist_ok=True)
        assert (root / "results" / made.id).parent == root / "results"


@given(st.text(max_size=30))
def test_any_name_is_read(stem):
    reading = names.exercise_of(stem)
    assert reading.exercise is None or reading.exercise in {exercise.folder for exercise in ALL}
    names.exercise_of_folder(stem), names.owner_of(stem)


def test_bytes_that_are_no_text_in_a_name(tmp_path):
    lay(tmp_path, "bob/softmax_naive.py")
    folder = os.fsencode(tmp_path) + b"/\xff\xfe"
    os.mkdir(folder)
    with open(folder + b"/context_vectors.py", "w") as file:
        file.write(CODE)
    assert len(placed(tmp_path)) == 2
    assert all(h.shown.isprintable() and h.student.id.isprintable() for h in find(tmp_path, ALL).handins)


def harmless(line: str) -> bool:
    return label(line) == line and "\t" not in line


def zipped(folder: Path) -> Path:
    """The folder as one zip beside it."""
    path = folder.with_name("whole.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    return path
