"""Whatever a stranger hands in (names, archives, notebooks, sources) costs that hand-in alone, and little of it."""

import csv
import itertools
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed (extra dev)")

from bombs import ARCHIVES, BOMBS, FOLDER, HONEST, NOTEBOOKS, QUADRATIC, zipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from survive import CASES, case
from thorough import THOROUGH, sample

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import BadSubmission
from grader.classroom.intake import archives, collector, names
from grader.classroom.intake.finder import find
from grader.classroom.marks import Student
from grader.classroom.store import Entry, Store
from grader.records import forbidden, limited, safe_files, submission
from grader.records.forbidden import forbidden_uses
from grader.records.sanitize import label
from grader.records.source import parses

pytestmark = pytest.mark.slow

# Sources


LOOKS = (forbidden.notes, forbidden.reaches, parses)


def test_many_calls_about_one_text_take_no_more_together_than_they_may(monkeypatch):
    """Each of them is within its limit. Another text is read as ever, and so is what was read before."""
    monkeypatch.setattr(limited, "TEXT_CPU_S", 0.2)  # the limit itself takes seconds to reach
    monkeypatch.setattr(limited, "FREE_CPU_S", 0.0)  # each of these calls is a short one
    text = "\n".join(f"x{number} = [{'1, ' * 200}]" for number in range(30))  # each call takes some thousandths
    before, read = limited.spent(), 0
    with pytest.raises(BadSubmission, match="in all"):
        for number in range(300):
            forbidden_uses(text, ("softmax",), f"f{number}")
            forbidden_uses(f"{text}\n", ("softmax",), f"f{number}")  # so that none finds the tree of the call before
            read += 1
    assert 0 < read < 300 and 0.2 <= limited.spent() - before < 2 * (0.2 + limited.CPU_S)
    assert forbidden_uses(text, ("softmax",), "f0") == [] and parses(HONEST)


@pytest.mark.parametrize("bomb, look", sample(itertools.product(BOMBS, LOOKS), 6))
def test_a_source_that_takes_too_much_is_refused_and_the_next_one_is_read(bomb, look):
    """Also where Python could run it: no rule on forbidden functions would have been looked at."""
    with pytest.raises(BadSubmission, match="1 s or 200 MB"):
        look(BOMBS[bomb])
    assert forbidden.notes("import ctypes\n") and parses(HONEST)


def test_the_helper_is_replaced_when_it_ends():
    assert parses("before = 1")
    limited.helper.process.kill()
    with pytest.raises(BadSubmission):  # whoever was read when it ended
        parses("during = 1")
    assert parses("after = 1")


def test_the_helper_keeps_to_its_memory():
    parses("first = 1")
    with pytest.raises(BadSubmission):
        parses("a;" * 400_000)
    assert parses("second = 1")
    size = int(Path(f"/proc/{limited.helper.process.pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
    assert size < 4 * limited.MEMORY


LETTERS = {
    "latin-1": "Größe", "iso-8859-15": "Größe", "cp1252": "Größe", "windows-1251": "Привет", "koi8-r": "Привет",
    "shift_jis": "日本", "gbk": "中文",
}  # fmt: skip


@pytest.mark.parametrize("encoding", LETTERS)
def test_a_source_in_the_encoding_that_it_declares_is_read_as_python_reads_it(encoding):
    for before in ("", "#!/usr/bin/env python3\n", "\n", "# \r\n"):
        text = f"{before}# -*- coding: {encoding} -*-\nname = '{LETTERS[encoding]}'\n"
        data = text.encode(encoding)
        python, mine = {}, {}
        exec(compile(data, "a.py", "exec"), python)
        exec(submission.decode(data, "a.py", notebook=False).source, mine)
        assert mine["name"] == python["name"] == LETTERS[encoding]


def test_other_declarations_do_not_count():
    heads = ["x = 1\n# coding: latin-1\n", "\n\n# coding: latin-1\n", "coding = 'latin-1'\n"]
    heads += [f"# coding: {name}\n" for name in ("utf-8", "utf-7", "punycode", "unicode_escape", "zlib", "ascii", "x")]
    for head in heads:
        with pytest.raises(BadSubmission, match="not UTF-8"):
            submission.decode(head.encode() + "x = 'é'\n".encode("latin-1"), "a.py", notebook=False)


def test_a_source_is_not_larger_once_it_is_read():
    data = b"# coding: latin-1\n# " + b"\xe9" * (safe_files.MAX_SOURCE - 40)
    with pytest.raises(BadSubmission):
        submission.decode(data, "a.py", notebook=False)


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


def test_a_path_that_is_not_utf_8_is_kept_and_found_again(tmp_path):
    entry = Entry(Student("ada", "Ada"), FOLDER, label(os.fsdecode(b"in/a\xff/x.py")), "content", "key", ("a",))
    with Store(tmp_path) as store:
        store.replace_entries([entry])
        assert store.entries() == [entry]


def test_names_longer_than_255_bytes_are_not_taken_in(tmp_path):
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as packed:
        packed.writestr("é" * 130 + "/softmax_naive.py", HONEST)
        packed.writestr("softmax_naive.py", HONEST)
    found = find(tmp_path, catalog.exercises())
    assert len(found.handins) == 1
    assert [entry.note for entry in found.others] == ["its name is longer than 255 bytes"]


# Archives


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("archives")
    for name, make in ARCHIVES.items():
        (folder / name).write_bytes(make())
    return folder


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_costs_itself_alone(built, name, tmp_path):
    """Found and read within a second of this process's time, and honest neighbours are."""
    (tmp_path / "z.zip").write_bytes(zipped(("softmax_naive.py", HONEST.encode())))  # looked at after the other
    (tmp_path / name).write_bytes((built / name).read_bytes())
    began, read = time.process_time(), {}
    for handin in find(tmp_path, catalog.exercises()).handins:
        handin.below(tmp_path).encode()
        try:
            read[Path(handin.place).name] = handin.read().source
        except BadSubmission as error:
            assert str(error).isprintable()
    assert time.process_time() - began < 3.0
    assert read.pop("z.zip") == HONEST
    assert all(source in (HONEST, QUADRATIC) for source in read.values())


def test_a_rare_way_of_packing_is_refused_before_it_is_unpacked(built):
    for name in ("bzip2.zip", "lzma.zip"):
        with pytest.raises(BadSubmission, match="rare way"):
            archives.read(str(built / name), "softmax_naive.py")


def test_many_archives_of_one_student_take_as_long_as_a_few(built, tmp_path, monkeypatch):
    """Those that are left are told of, and everybody else's are opened."""
    monkeypatch.setattr(collector, "MOST_SECONDS", 0.3)  # as above
    (tmp_path / "eve").mkdir()
    for number in range(12):
        (tmp_path / "eve" / f"{number}.tgz").write_bytes((built / "gzip-name.tgz").read_bytes())
    (tmp_path / "zoe.zip").write_bytes(zipped(("softmax_naive.py", HONEST.encode())))
    before = limited.spent()
    found = find(tmp_path, catalog.exercises())
    assert 0.3 < limited.spent() - before < 4.0
    assert [handin.student.id for handin in found.handins] == ["zoe"]
    assert sum("not opened" in entry.note for entry in found.misplaced) >= 8


# A class


def test_a_class_with_all_of_this_in_it_is_graded(built, tmp_path, said, here):
    """Everybody honest has full marks; nobody is missing; whatever was refused is told with its reason."""
    root = tmp_path / "in"
    for number in range(2):
        path = root / f"honest{number}" / "softmax_naive.py"
        path.parent.mkdir(parents=True)
        path.write_text(HONEST + f"\nx = {number}\n", "utf-8")
    for name in sample(ARCHIVES, 4):  # each of them is tried alone above
        (root / f"h-{name}").write_bytes((built / name).read_bytes())
    notebooks, bombs = sample(NOTEBOOKS.values(), 2), sample(reversed(BOMBS.values()), 1)
    for number, (data, _) in enumerate(notebooks):
        (root / f"notebook{number}").mkdir()
        (root / f"notebook{number}" / "softmax_naive.ipynb").write_bytes(data)
    for number, bomb in enumerate(bombs):
        (root / f"bomb{number}").mkdir()
        (root / f"bomb{number}" / "softmax_naive.py").write_text(bomb)
    for raw in (b"b\xff", b"d\x1b[31m\ne", "\u202eyp".encode(), b"=cmd()"):
        place = os.fsencode(root) + b"/" + raw
        os.mkdir(place)
        with open(place + b"/softmax_naive.py", "w") as file:
            file.write(HONEST)
    done = said("grade", root, "--ex", "02", "--out", tmp_path / "out")
    assert done.returncode == 3 and "Traceback" not in done.stderr + done.stdout, done.stderr  # some are not placed
    with (tmp_path / "out" / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        grades = {row["student"]: row for row in csv.DictReader(file)}
    most = sum(catalog.read(FOLDER).points.values())
    full = {student for student, row in grades.items() if float(row[FOLDER] or 0) == most}
    assert {f"honest{number}" for number in range(2)} <= full
    assert len(full) >= 2 + 4, sorted(full)  # those with odd names
    assert len([row for row in grades if row.startswith("bomb")]) == len(bombs)
    assert len([row for row in grades if row.startswith("notebook")]) == len(notebooks)


# The fuzz


@pytest.mark.parametrize("kind", CASES)
def test_made_up_hand_ins(kind, tmp_path):
    often = {"name": 200, "class": 10}.get(kind, 40) * (50 if THOROUGH else 1)

    @settings(max_examples=often, deadline=None, suppress_health_check=HealthCheck)
    @given(st.randoms(use_true_random=True))
    def tried(dice):
        case(kind, dice, tmp_path)

    tried()


# A class in one archive: what one student hands in does not keep the archive from being read.


def a_download(path: Path, *more: tuple[str, bytes]) -> Path:
    honest_ones = ((f"{name}_{500 + n}_assignsubmission_file_/{FILE}", HONEST.encode()) for n, name in enumerate("ABC"))
    path.write_bytes(zipped(*honest_ones, *more))
    return path


FILE = "softmax_naive.py"
EVE = "Eve_777_assignsubmission_file_"


def test_a_file_of_zeros_does_not_make_the_whole_class_a_bomb(tmp_path):
    found = find(a_download(tmp_path / "class.zip", (f"{EVE}/{FILE}", b"\0" * (40 << 20))), catalog.exercises())
    assert {handin.student.id for handin in found.handins} == {"500", "501", "502", "777"}
    for handin in found.handins[:3]:
        assert handin.read().source == HONEST
    with pytest.raises(BadSubmission, match="too large"):
        found.handins[3].read()
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada/work.zip").write_bytes(zipped(("a.bin", b"\0" * (40 << 20)), (FILE, HONEST.encode())))
    assert "zip bombs" in find(tmp_path / "ada", catalog.exercises()).misplaced[0].note  # a student's own has a ratio


def test_an_answer_of_the_reader_is_kept():
    known = parses("kept = 1"), limited.spent()
    assert (parses("kept = 1"), limited.spent()) == known


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
