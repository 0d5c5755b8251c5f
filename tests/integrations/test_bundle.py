"""The zip that learners get is opened and searched, and its grader is really run."""

import io
import json
import os
import re
import subprocess
import sys
import zipfile

import pytest
from thorough import sample

from grader import catalog
from grader.catalog import mistakes, paths, stubs
from grader.catalog.project import read_toml
from grader.integrations import bundle

pytestmark = pytest.mark.slow

FOLDERS = [exercise.folder for exercise in catalog.exercises()]
BEGUN = sample(FOLDERS, 3)
(TRAINS,) = [exercise.folder for exercise in catalog.exercises() if exercise.trains not in ("", exercise.folder[:2])]
# Commands of a learner who has passed 01, and of one who asks for what is not there.
OTHERS = [
    ["check", "01"],
    ["hint", "02"],
    ["progress"],
    ["reset", "03"],
    ["new", "77", "x"],
    ["bundle"],
    ["solution", "03", "--force"],
    ["train", TRAINS],
]


@pytest.fixture(scope="module")
def zipped() -> bytes:
    return bundle.build()


@pytest.fixture(scope="module")
def content(zipped) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(zipped)) as archive:
        return {
            name.removeprefix(f"{bundle.TOP}/"): archive.read(name).decode(errors="replace")
            for name in archive.namelist()
        }


@pytest.fixture(scope="module")
def unpacked(zipped, tmp_path_factory):
    folder = tmp_path_factory.mktemp("learner")
    with zipfile.ZipFile(io.BytesIO(zipped)) as archive:
        archive.extractall(folder)
    return folder / bundle.TOP


@pytest.fixture(scope="module")
def graded(unpacked, tmp_path_factory) -> list[dict]:
    """What the learner's grader says of a right and a wrong answer, to OTHERS, and of stubs, all in one process."""
    folder = "03_context_vectors"
    shown = bundle.check_names(paths.documented_checks(folder))
    failing = {name for name, row in mistakes.failed_checks(folder).items() if shown & set(row.failed)}
    wrong = next(mistake for mistake in mistakes.mistakes(folder) if mistake.name in failing)
    right, mine = (tmp_path_factory.mktemp(name) / "mine.py" for name in ("right", "wrong"))
    right.write_text(paths.solution(folder).read_text())
    mine.write_text(wrong.source)
    check = ["check", "03", "--submission"]
    (unpacked / f"exercises/{FOLDERS[1]}/{paths.slug(FOLDERS[1])}.py").write_text(
        paths.solution(FOLDERS[1]).read_text()
    )
    commands = [[*check, str(right)], [*check, str(mine), "--format", "json"], *OTHERS]
    commands += [["check", one] for one in BEGUN]
    done = subprocess.run(
        [sys.executable, paths.ROOT / "tests/together.py"], input=json.dumps({"commands": commands}),
        cwd=unpacked, env=os.environ | {"PYTHONPATH": str(unpacked)}, capture_output=True, text=True, timeout=120,
        check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_what_is_in_it(content):
    for folder in FOLDERS:
        slug = paths.slug(folder)
        stub = stubs.make(paths.solution(folder).read_text())
        assert content[f"exercises/{folder}/{slug}.py"] == stub == content[f"grader/checks/{folder}/{slug}.stub"]
        inside = {name for name in content if name.startswith(f"grader/checks/{folder}/")}
        allowed = {f"{slug}.stub", "test_documented.py", "exercise.toml"}
        if paths.figure_script(folder).exists():
            allowed.add("figure.py")
            assert content[f"exercises/{folder}/figure.js"] == paths.figure_script(folder).read_text("utf-8")
        assert {name.rpartition("/")[2] for name in inside} == allowed
        assert content[f"exercises/{folder}/README.md"] and content[f"exercises/{folder}/hints.md"]
        assert (f"exercises/{folder}/problems.md" in content) is paths.problems(folder).exists()
    assert {"README.md", "Makefile", "constraints.txt", "pyproject.toml", "grader/__main__.py"} <= set(content)
    tops = {name.partition("/")[0] for name in content}
    assert tops == {".github", "README.md", "Makefile", "docs", "exercises", "grader", *bundle.WHOLE}
    assert {name for name in content if name.startswith("docs/")} == {"docs/promises.md"}  # what lessons link to


def test_a_trained_model_and_its_training_are_in_it(unpacked):
    for path in (paths.trained(TRAINS), paths.trainer(TRAINS)):
        assert (unpacked / path.relative_to(paths.ROOT)).read_bytes() == path.read_bytes()


def test_every_figure_has_its_numbers_in_it(unpacked, relocate, request):
    """Without solutions and hidden numbers the figures still have all that they draw."""
    from grader.catalog import documented  # heavy, as the others are: torch
    from grader.integrations import figures
    from grader.judge import figure

    having = [folder for folder in FOLDERS if paths.figure_script(folder).exists()]
    relocate(unpacked, "CHECKS", "EXERCISES", "SOLUTIONS")
    for kept in (figure.figure, figure.data, documented.numbers):
        kept.cache_clear()  # of this checkout, and of the bundle afterwards
        request.addfinalizer(kept.cache_clear)
    for folder in sample(having, 4):
        assert figure.has_figure(folder) and figure.data(folder) and figures.widget(folder), folder


def test_no_solution_is_in_it(content):
    everything = "\n".join(content.values()).encode()  # bytes are searched several times as fast
    lessons = "\n".join(text for name, text in content.items() if name.startswith("exercises/"))
    searched = 0
    for folder in FOLDERS:
        given = (stubs.make(paths.solution(folder).read_text()) + lessons).encode()
        lines: dict[str, object] = {}  # with a file in which each stands
        known = sample(mistakes.mistakes(folder), 4)
        for source in (paths.solution(folder).read_text(), *(mistake.source for mistake in known)):
            lines |= dict.fromkeys((line.partition("  #")[0].strip() for line in source.splitlines()), folder)
        assert not [mistake.name for mistake in known if mistake.sentence.encode() in everything]
        own = {line: path for line, path in lines.items() if len(line) > 40 and line.encode() not in given}
        searched += len(own)
        assert {line: path for line, path in own.items() if line.encode() in everything} == {}
    assert searched > 500


def test_no_hidden_check_is_in_it(content, unpacked):
    everything = "\n".join(content.values())
    for exercise in catalog.exercises():
        shown = bundle.check_names(paths.CHECKS / exercise.folder / paths.DOCUMENTED_CHECKS)
        hidden = set(exercise.points) - shown
        assert hidden
        of_it = "\n".join(text for name, text in content.items() if f"checks/{exercise.folder}/" in name)
        for name in hidden:
            assert f"test_{name}" not in everything
            if "_" in name:  # "parameters" is a word like any other
                assert not re.search(rf"\b{name}\b", of_it), f"{exercise.folder}: {name}"
        toml = read_toml(unpacked / "grader" / "checks" / exercise.folder / "exercise.toml")
        assert set(toml["points"]) == shown
        assert sum(toml["points"].values()) + toml["hidden_points"] == pytest.approx(exercise.max_points)
        assert toml["title"] == exercise.title


def test_work_in_this_checkout_is_not_given_out(content, desk):
    """The stubs come from the solutions, not from a file that somebody may have worked on."""
    paths.stub(FOLDERS[0]).write_text("SECRET = 1\n")
    (desk / "exercises" / FOLDERS[0] / "notes.txt").write_text("SECRET")
    given, name = dict(bundle.files()), f"exercises/{FOLDERS[0]}/{paths.slug(FOLDERS[0])}.py"
    assert given[name] == content[name].encode() and not any("notes" in one for one in given)


def test_its_grader_grades(graded):
    """Without the known mistakes there is no diagnosis, and nothing is said of that."""
    right, wrong, *others = graded
    begun = others[len(OTHERS) :]
    assert right["code"] == 0 and "2.5 of 2.5 points" in right["stdout"], right
    assert "These are 2.5 of 7 points. Hidden checks follow" in right["stdout"]
    result = json.loads(wrong["stdout"])
    assert wrong["code"] == 1 and result["status"] == "failed" and result["started"]
    assert not any(check["hidden"] for check in result["checks"])
    assert all(done["code"] == 1 and "not started yet" in done["stdout"] for done in begun), begun


def test_what_the_grader_reads_is_in_it(content):
    """Each of its files but the checks, what authors and platforms write with, and templates."""
    rooms = [path for path in paths.GRADER.iterdir() if path.is_dir() and path.name != "checks"]
    read = {
        path
        for room in rooms
        for path in room.rglob("*.*")
        if path.suffix not in (".pyc", ".md", ".sh", ".yml", ".txt")
    }
    names = {path.relative_to(paths.ROOT).as_posix() for path in read if path.name not in bundle.AUTHORS}
    assert "grader/reports/palette.toml" in names and names <= content.keys()


def test_a_learner_works_in_it(graded):
    """Some verbs read files that a check does not."""
    *works, new, bundled, solution, train = graded[2 : 2 + len(OTHERS)]
    assert [done["code"] for done in works] == [0] * len(works), works
    told = ("no exercise is made in it", "no solutions", "holds no solutions", "not passed yet")
    for done, words in zip((new, bundled, solution, train), told, strict=True):
        assert done["code"] == 2 and words in done["stderr"] and "SUBMISSION" not in done["stderr"]


def test_its_makefile(unpacked, content):
    done = subprocess.run(["make", "help"], cwd=unpacked, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    listed = set(re.findall(r"^  ([a-z0-9]+) ", done.stdout, re.M))
    assert {"check", "hint", "reset", "progress"} <= listed
    assert not listed & {"grade", "verify", "solution", "plot", "update", "test"}  # they would refuse
    assert "$(VENV)/.ready:" in content["Makefile"]


def test_the_command(tmp_path, said, zipped):
    done = said("bundle", "--output", tmp_path / "kata.zip")
    assert done.returncode == 0 and "kB" in done.stdout, done.stderr
    with zipfile.ZipFile(tmp_path / "kata.zip") as archive, zipfile.ZipFile(io.BytesIO(zipped)) as other:
        assert archive.testzip() is None
        assert archive.namelist() == other.namelist()
    is_same = (tmp_path / "kata.zip").read_bytes() == zipped  # no diff of so many bytes
    assert is_same
    assert said("bundle", "--output", tmp_path / "kata.zip/kata.zip").returncode == 2
