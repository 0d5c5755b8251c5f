"""Whatever a stranger hands in (names, archives, notebooks, sources) costs that hand-in alone, and little of it."""

import contextlib
import itertools
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed (extra dev)")

import hostile
from bombs import ARCHIVES, BOMBS, FILE, HONEST, NOTEBOOKS, QUADRATIC, zipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thorough import THOROUGH, sample

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.classroom.intake import archives, beneath, collector, names
from grader.classroom.intake.finder import find
from grader.records import forbidden, limited, safe_files, submission
from grader.records.forbidden import forbidden_uses
from grader.records.sanitize import label
from grader.records.source import outline
from grader.records.submission import Submission

pytestmark = pytest.mark.slow

# Sources


def parses(text: str) -> bool:
    return outline(text)["depth"] > 0


LOOKS = (forbidden.note, parses)


def test_many_calls_about_one_text_take_no_more_together_than_they_may(monkeypatch):
    """Each of them is within its limit. Another text is read as ever, and so is what was read before."""
    monkeypatch.setattr(limited, "TEXT_CPU_S", 0.2)  # the limit itself takes seconds to reach
    monkeypatch.setattr(limited, "FREE_CPU_S", 0.0)  # each of these calls is a short one
    text = "\n".join(f"x{number} = [{'1, ' * 200}]" for number in range(30))  # each call takes some thousandths
    before, read = limited.helper.spent, 0
    with pytest.raises(BadSubmission, match="in all"):
        for number in range(300):
            forbidden_uses(text, ("softmax",), [f"f{number}"])
            forbidden_uses(f"{text}\n", ("softmax",), [f"f{number}"])  # so that none finds the tree of the call before
            read += 1
    assert 0 < read < 300 and 0.2 <= limited.helper.spent - before < 2 * (0.2 + limited.CPU_S)
    assert forbidden_uses(text, ("softmax",), ["f0"]) == [] and parses(HONEST)


@pytest.mark.parametrize("bomb, look", sample(itertools.product(BOMBS, LOOKS), 4))
def test_a_source_that_takes_too_much_is_refused_and_the_next_one_is_read(bomb, look):
    """Also where Python could run it: no rule on forbidden functions would have been looked at."""
    with pytest.raises(BadSubmission, match="1 s or 200 MB"):
        look(BOMBS[bomb])
    assert forbidden.note("import ctypes\n") and parses(HONEST)


# Notebooks


@pytest.mark.parametrize("data, reason", NOTEBOOKS.values(), ids=NOTEBOOKS)
def test_a_notebook_that_cannot_be_graded_is_refused(data, reason):
    assert len(data) <= safe_files.MAX_NOTEBOOK
    with pytest.raises(BadSubmission, match=reason):
        submission.decode(data, "a.ipynb", notebook=True)


def test_an_honest_notebook_with_many_pictures_is_read():
    picture = [{"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo" * 90_000}}]
    cells = [{"cell_type": "code", "source": ["%matplotlib inline\n", "y = '\u2028😀'\n"], "outputs": picture}] * 14
    data = json.dumps({"cells": cells}).encode()
    assert 10e6 < len(data) < safe_files.MAX_NOTEBOOK
    found = submission.decode(data, "a.ipynb", notebook=True)
    assert found.source.count("y = '\u2028😀'") == 14 and "14 magic" in found.notes[0]


# Names


def test_a_long_name_is_read_in_no_time():
    began = time.process_time()
    for unit in ("_1", "-1", " (1)", "1_", " ", "03_", "_", "0", "_1_assignsubmission_", "é"):
        names.exercise_of(f"{unit * 30_000}{began}")
        names.owner_of(f"{unit * 100}{began}")
    assert time.process_time() - began < 5.0  # it took minutes


# Archives


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("archives")
    for name, (make, _) in ARCHIVES.items():
        (folder / name).write_bytes(make())
    return folder


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_costs_itself_alone(built, name, tmp_path):
    """Found and read within a second of this process's time, and honest neighbours are. What is refused is told."""
    (tmp_path / "z.zip").write_bytes(zipped(("softmax_naive.py", HONEST.encode())))  # looked at after the other
    (tmp_path / name).write_bytes((built / name).read_bytes())
    began, read = time.process_time(), {}
    found = find(tmp_path, catalog.exercises())
    told = [one.note for one in found.others]
    for handin in found.handins:
        handin.below(tmp_path).encode()
        try:
            read[Path(handin.place).name] = handin.read().source
        except BadSubmission as error:
            told.append(str(error))
            assert str(error).isprintable()
    assert time.process_time() - began < 3.0
    assert re.search(ARCHIVES[name][1], "\n".join(told)), told
    assert read.pop("z.zip") == HONEST
    assert all(source in (HONEST, QUADRATIC) for source in read.values())


def test_many_archives_of_one_student_take_as_long_as_a_few(built, tmp_path, monkeypatch):
    """Those that are left are told of, and everybody else's are opened."""
    monkeypatch.setattr(collector, "MOST_SECONDS", 0.3)  # as above
    (tmp_path / "eve").mkdir()
    for number in range(12):
        (tmp_path / "eve" / f"{number}.tgz").write_bytes((built / "gzip-name.tgz").read_bytes())
    (tmp_path / "zoe.zip").write_bytes(zipped(("softmax_naive.py", HONEST.encode())))
    before = limited.helper.spent
    found = find(tmp_path, catalog.exercises())
    assert 0.3 < limited.helper.spent - before < 4.0
    assert [handin.student.id for handin in found.handins] == ["zoe"]
    assert sum("not opened" in entry.note for entry in found.misplaced) >= 8


def test_a_file_of_zeros_does_not_make_the_whole_class_a_bomb(tmp_path):
    """In one archive: what one student hands in does not keep it from being read."""
    entries = [(f"{name}_{500 + n}_assignsubmission_file_/{FILE}", HONEST.encode()) for n, name in enumerate("ABC")]
    entries.append((f"Eve_777_assignsubmission_file_/{FILE}", bytes(40 << 20)))
    (tmp_path / "class.zip").write_bytes(zipped(*entries))
    found = find(tmp_path / "class.zip", catalog.exercises())
    assert {handin.student.id for handin in found.handins} == {"500", "501", "502", "777"}
    for handin in found.handins[:3]:
        assert handin.read().source == HONEST
    with pytest.raises(BadSubmission, match="too large"):
        found.handins[3].read()


def test_an_archive_is_not_copied_to_be_read(tmp_path):
    """The largest archive that is taken, in the process that must not grow with it."""
    packed = tmp_path / "eve/work.zip"
    packed.parent.mkdir()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("a.bin", os.urandom(archives.MAX_PACKED - (1 << 20)))
        file.writestr(FILE, HONEST)
    program = (
        "import resource, sys; from pathlib import Path; from grader import catalog\n"
        "from grader.classroom.intake.finder import find\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "(handin,) = find(Path(sys.argv[1]), catalog.exercises()).handins\n"
        "handin.read()\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, packed.parent], cwd=paths.ROOT, capture_output=True, text=True
    )
    assert int(done.stdout) < 1.5 * (archives.MAX_PACKED >> 20), done.stderr


# The fuzz: what a stranger chose goes through all that reads it, under the promised limits.

SLOW_S, LARGE = 1.0, 200 << 20  # of this process; in the helper grader/records/limited.py sees to it
OURS = (BadSubmission, NoSuchFile, WrongUse)
EXERCISES = catalog.exercises()
RULES = [rule for exercise in EXERCISES for rule in exercise.forbidden]


def _name(made: list[str], folder: Path) -> None:
    text, other = made
    shown = label(text)
    assert shown.isprintable() and len(shown) <= 400 and shown == shown.encode().decode()
    names.exercise_of(text), names.exercise_of_folder(text)
    names.owner_of(text), beneath.is_too_long(text)
    keys = [text, other, text.upper()]
    ids = names.ids(keys)
    assert ids.keys() == set(keys) and names.ids(reversed(keys)) == ids  # whatever the order
    assert len({id.casefold() for id in ids.values()}) == len(ids) and all(map(str.isprintable, ids.values()))
    for id in ids.values():
        assert id and not id.startswith((".", "-")) and not {"/", "\\"} & {*id} and len(id.encode()) < 200
    names.submitters_of(f"{text}\nsubmission_1:\n  :submitters:\n  - :name: {text}\n")


def _class(made: tuple, folder: Path) -> None:
    """A class of three: an archive, a file in a folder, and whatever the name makes of it."""
    packed, name, source = made
    with tempfile.TemporaryDirectory(dir=folder) as place:
        root = Path(place)
        for number, (called, data) in enumerate(packed):
            (root / f"{number}{called}").write_bytes(data)
        _on_disk(root, name, source)
        for handin in find(root, EXERCISES).handins:
            assert f"{handin.below(root)}{handin.student.id}".isprintable() and handin.student.name.encode()
            with contextlib.suppress(*OURS):
                _looked_at(handin.read())


def _notebook(data: bytes, folder: Path) -> None:
    _looked_at(submission.decode(data, "a.ipynb", notebook=True))


def _source(text: str, folder: Path) -> None:
    data = text.encode("utf-8", "replace")
    if len(data) <= safe_files.MAX_SOURCE:
        _looked_at(submission.decode(data, "a.py", notebook=False))


CASES = {  # how each is made, which does not count, and what is done with it
    "name": (lambda dice: [hostile.name(dice), hostile.name(dice)], _name),
    "class": (lambda d: ([hostile.archive(d), hostile.archive(d)], hostile.name(d), hostile.source(d)), _class),
    "notebook": (hostile.notebook, _notebook),
    "source": (hostile.source, _source),
}


def _looked_at(found: Submission) -> None:
    """What is done with the source of everybody."""
    forbidden.note(found.source)
    for rule in RULES[:1]:
        forbidden.forbidden_uses(found.source, rule.names, rule.functions)
    assert len(found.source.encode()) <= safe_files.MAX_SOURCE


def _on_disk(root: Path, called: str, text: str) -> None:
    called = called.replace("/", "_").replace("\0", "_").encode("utf-8", "replace")[:200] or b"a"
    place = os.fsencode(root) + b"/" + (b"\xff" + called).strip(b".")
    with contextlib.suppress(OSError):
        os.mkdir(place)
        with open(place + b"/context_vectors.py", "w", encoding="utf-8", errors="replace") as file:
            file.write(text)


def _peak() -> int:
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size << 10


@pytest.mark.parametrize("kind", CASES)
def test_made_up_hand_ins(kind, tmp_path):
    often = {"name": 200, "class": 20}.get(kind, 40) * (50 if THOROUGH else 1)

    @settings(max_examples=often, deadline=None, suppress_health_check=HealthCheck)
    @given(st.randoms(use_true_random=True))
    def tried(dice):
        make, look = CASES[kind]
        made = make(dice)
        size, began = _peak(), time.process_time()
        try:
            look(made, tmp_path)
        except OURS as error:
            label(str(error)).encode()
        assert time.process_time() - began <= SLOW_S
        assert _peak() - size <= LARGE

    tried()
