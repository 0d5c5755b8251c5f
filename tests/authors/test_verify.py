"""`verify` itself: a small exercise that is in order, and each way in which it can be out of order."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from copies import copy
from globs import some
from sources import mistake
from thorough import nightly

from grader import catalog
from grader.authoring import scaffold, verify
from grader.authoring.verify import by_known_outcome
from grader.catalog import documented, mistakes, paths, stubs
from grader.judge import capture, figure
from grader.judge.grading import Grading
from grader.records.results import Settings
from grader.records.submission import Submission

pytestmark = pytest.mark.slow

FOLDER = "77_double"
CHECKS = f"grader/checks/{FOLDER}"
FACTS, FIGURE_FILE, SHOWN_FILE, HIDDEN_FILE = (
    f"{CHECKS}/{name}" for name in ("exercise.toml", "figure.py", "test_documented.py", "test_double.py")
)
PAGE, HINTS_FILE, EXPERIMENT_FILE, STUB, SCRIPT_FILE = (
    f"exercises/{FOLDER}/{name}" for name in ("README.md", "hints.md", "experiment.py", "double.py", "figure.js")
)
RIGHT, NOTICE_FILE, WRONG, ADDED_FILE = (
    f"solutions/{FOLDER}/{name}" for name in ("double.py", "notice.md", "mistakes.md", "right/style_1.py")
)
CASES_FILE = f"tests/exercises/test_{FOLDER}.py"
MISTAKE = """
## {name}
{sentence}
```diff
@@ double @@
-    return 2 * x
+    {body}
```
"""
MISTAKES = {
    "added_two": ("The function adds 2: twice means a product, not a sum.", "return x + 2"),
    "squared": ("The function squares: twice means times 2, not times itself.", "return x * x"),
    "tripled": ("The function takes x three times: count the terms of the sum.", "return x + x + x"),
    "first_row_only": ("Only the first row is doubled: the others go in too.", "return torch.cat([2 * x[:1], x[1:]])"),
    "in_place": ("The input itself is doubled: make a new tensor instead.", "return x.mul_(2)"),
}
WRITTEN = {name: MISTAKE.format(name=name, sentence=s, body=b) for name, (s, b) in MISTAKES.items()}
STYLES = ("return x + x", "return x * 2", "return torch.add(x, x)")
HIDDEN = '''"""Hidden."""

from grader.authors import agrees, keeps_inputs, task


@task(1)
def test_fresh_double(learner, reference, rng):
    """double is right on new inputs."""
    agrees(learner.double, reference.double, rng.randn(3, 2))


@task(1)
def test_inputs_unchanged(learner, rng):
    """The inputs are left as they were."""
    keeps_inputs(learner.double, rng.randn(3))
'''
TOML = """title = "Double"

[points]
documented_double = 1
fresh_double = 1
inputs_unchanged = 1

[misconceptions.in-place]
title = "What changes its input"
section = "Go further"
hint = "Is x the same after the call?"

[[number]]
id = "example"
source = "arithmetic"
place = "first page"
check = "documented_double"
printed = "[[2.0, 4.0], [6.0, 8.0]]"
"""


def filled() -> dict[str, str]:
    """The files of a small exercise, in order: those of `make new` with each TODO filled in."""
    files = {path.relative_to(paths.ROOT).as_posix(): text for path, text in scaffold.files(FOLDER).items()}
    files = {name: text.replace("TODO: ", "").replace("TODO", "so") for name, text in files.items()}
    files[RIGHT] = files[RIGHT].replace("return x  # (T, d)", "return 2 * x")
    for number, body in enumerate(STYLES, 1):
        style = f"solutions/{FOLDER}/right/style_{number}.py"
        files[style] = files[style].replace("return x", body)
    wrong = "# in-place\n" + "".join(WRITTEN.values())
    return files | {FACTS: TOML, HIDDEN_FILE: HIDDEN, WRONG: wrong, STUB: stubs.make(files[RIGHT])}


FILES = filled()
SOLUTION = FILES[RIGHT]


def lay(root: Path) -> None:
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


# What is kept of the files of an exercise, which here are others in each test.
KEPT = (
    catalog.exercises, documented.numbers, mistakes.misconceptions, figure.figure, figure.data,
    capture.setups,
)  # fmt: skip


@pytest.fixture
def house(tmp_path, relocate):
    """A folder with one small exercise, in order, for which the grader of this process works."""
    lay(relocate(tmp_path, "CHECKS", "EXERCISES", "SOLUTIONS", "EXERCISE_TESTS"))
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Read the files of exercises anew."""
    for kept in KEPT:
        kept.cache_clear()


def change(path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_an_exercise_in_order_passes_with_one_line(house, said):
    done = said("verify", "77", "--write", cwd=house)
    assert done.returncode == 0, done.stdout + done.stderr
    known = json.loads(paths.failed_checks(FOLDER).read_text())
    assert known["checks"] == ["documented_double", "fresh_double", "inputs_unchanged"]
    assert known["mistakes"]["in_place"] == "..x"
    done = said("verify", "77", cwd=house)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "1 exercise, 5 mistakes: every one rejected and named by its own sentence\n"


def test_what_waits_for_another_task_is_listed(house, said):
    checks = house / HIDDEN_FILE
    change(checks, "@task(1)\ndef test_inputs_unchanged", '@task(2, after="fresh_double")\ndef test_inputs_unchanged')
    assert said("verify", "77", "--write", cwd=house).returncode == 0
    [line, _] = said("verify", "77", cwd=house).stdout.splitlines()
    assert line.startswith(f"{FOLDER}: a mistake in task 1 can leave 1 point of other tasks untried (after=): ")
    assert line.endswith(": inputs_unchanged (task 2, 1). No reason is written: exercise.toml, [waits], 1 = …")


def test_failed_checks_that_are_not_current_are_told_and_name_nothing_wrong(house, said):
    nothing = {"checks": ["documented_double"], "mistakes": dict.fromkeys(MISTAKES, ".")}
    paths.failed_checks(FOLDER).write_text(json.dumps(nothing))
    done = said("verify", "77", cwd=house)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 2  # each mistake was named all the same
    assert "failed_checks.json: it is not current: " in done.stderr
    assert "; in_place fails inputs_unchanged" in done.stderr
    assert "\n    Make it again: make verify EX=77 WRITE=1" in done.stderr
    assert json.loads(paths.failed_checks(FOLDER).read_text()) == nothing
    assert said("verify", "77", "--write", cwd=house).returncode == 0  # written, and the diagnoses looked at once more
    assert json.loads(paths.failed_checks(FOLDER).read_text()) != nothing


def two_with_a_mistake_that_passes(root: Path) -> list[str]:
    """Lay a second exercise beside the first, each with a mistake that is none. Returns what verify says of them."""
    folders = (FOLDER, "78_double")
    for folder in some(root.rglob(FOLDER)):
        shutil.copytree(folder, folder.with_name(folders[1]))
    cases = root / CASES_FILE
    shutil.copy(cases, cases.with_name(f"test_{folders[1]}.py"))
    change(root / f"exercises/{folders[1]}/README.md", "# 77", "# 78")
    change(root / f"grader/checks/{folders[1]}/exercise.toml", "misconceptions.in-place", "misconceptions.again")
    for folder in folders:  # both show the misconception of the first
        change(root / f"solutions/{folder}/mistakes.md", "x + 2", "x + x")
    return [f"solutions/{folder}/mistakes.md:3: added_two passes every check" for folder in folders]


def assert_told(done, wrong: list[str]) -> None:
    assert done.returncode == 1 and not done.stdout
    problems, fixes = done.stderr.splitlines()[::2], done.stderr.splitlines()[1::2]
    assert problems == wrong and ["EX=77" in fixes[0], "EX=78" in fixes[1]] == [True, True]


def test_all_is_told_in_the_order_of_the_exercises(house, said):
    wrong = two_with_a_mistake_that_passes(house)
    forget()
    assert_told(said("verify", "--jobs", 1, cwd=house), wrong)


@nightly
@pytest.mark.skipif(sys.platform != "linux", reason="it looks for processes in /proc")
def test_processes_beside_each_other_tell_all_in_the_order_of_the_exercises(tmp_path, cli):
    """Each with a fork server; none of them is left. `make verify` has them too, and CI runs it at each push."""
    lay(copy(tmp_path, "grader", without=("[0-9][0-9]_*",)))
    wrong = two_with_a_mistake_that_passes(tmp_path)
    assert_told(cli("verify", "--jobs", 2, cwd=tmp_path), wrong)
    assert [pid for pid in filter(str.isdigit, os.listdir("/proc")) if stands_in(pid, tmp_path)] == []


def stands_in(pid: str, folder: Path) -> bool:
    """Whether a process has this working folder, as the processes of `verify` have that of who started it."""
    try:
        return os.path.samefile(f"/proc/{pid}/cwd", folder)
    except OSError:  # it ended
        return False


def test_memory_is_measured_again_only_where_a_mistake_is_recorded_to_take_too_much(monkeypatch):
    folder, recorded = catalog.find("22").folder, dict(mistakes.failed_checks(catalog.find("22").folder))
    known, measured = mistakes.mistakes(folder), frozenset({"memory"})
    del recorded["unscaled"]  # as a mistake that was written just now
    monkeypatch.setattr(mistakes, "failed_checks", lambda _: recorded)  # else a file of the project's would change
    groups = {
        passed: {mistake.name for mistake in group}
        for passed, group in by_known_outcome(folder, known, measured).items()
    }
    too_much = {name for name, row in recorded.items() if "memory" in row.failed}
    assert "whole_table" in too_much
    assert groups == {frozenset(): too_much | {"unscaled"}, measured: recorded.keys() - too_much}
    assert list(by_known_outcome(folder, known, frozenset())) == [frozenset()]  # thorough: each check on each mistake


def test_a_sample_has_a_mistake_for_each_check_and_every_new_one(monkeypatch):
    exercise = catalog.find("22")
    known, recorded = mistakes.mistakes(exercise.folder), dict(mistakes.failed_checks(exercise.folder))
    new = known[1].name
    del recorded[new]
    sample = verify.take_sample(known, recorded, 10)
    names = [mistake.name for mistake in sample]
    assert {mistake.name for mistake in known[::10]} | {new} <= set(names) and len(names) < len(known) / 3
    failed = {check for name in names if name != new for check in recorded[name].failed}
    assert failed == {check for row in recorded.values() for check in row.failed}
    assert names == [mistake.name for mistake in known if mistake in sample]
    assert verify.take_sample(known, recorded, 1) == known


@pytest.mark.parametrize("is_stale", [False, True])
def test_a_sample_is_compared_with_what_is_recorded(house, said, is_stale):
    assert said("verify", "77", "--write").returncode == 0
    (name, row), *_ = recorded = list(mistakes.failed_checks(FOLDER).items())
    if is_stale:
        checks = [*catalog.find("77").points]
        changed = mistakes.NotPassed(tuple(check for check in checks if check not in row.failed))
        paths.failed_checks(FOLDER).write_text(mistakes.as_json(checks, {**dict(recorded), name: changed}), "utf-8")
    done = said("verify", "77", "--every", "5")
    assert (done.returncode, "it is not current" in done.stderr, name in done.stderr) == (is_stale, is_stale, is_stale)
    assert done.returncode or int(done.stdout.split(", ")[1].split()[0]) < len(recorded)


def test_a_check_that_is_taken_for_passed_is_not_run_and_still_waits_for_others(fork_server):
    exercise = catalog.find("22")
    whole = mistake("22", "whole_table")
    settings = Settings(seed=1, diagnose=False)

    def outcome(source: str, *taken_for_passed: str) -> str:
        with Grading(exercise, fork_server, settings, frozenset(taken_for_passed)) as grading:
            result = grading.result(Submission(source, "x.py"))
        return next(check.outcome for check in result.checks if check.id == "memory")

    assert outcome(whole.source) == "failed"
    assert outcome(whole.source, "memory") == "passed"
    assert outcome(whole.source.replace("return ", "return 2 * "), "memory") == "not_checked"


def test_a_new_exercise_is_refused_until_it_is_filled(house, said):
    made = said("new", "78", "my_exercise", cwd=house)
    assert made.returncode == 0 and "wrote exercises/78_my_exercise/README.md" in made.stdout
    written = {line.removeprefix("wrote ") for line in made.stdout.splitlines() if line.startswith("wrote ")}
    forget()
    refused = said("verify", "78", cwd=house)
    assert refused.returncode == 1
    left = {line.partition(":")[0] for line in refused.stderr.splitlines() if "a TODO is left" in line}
    made_from_others = {"exercises/78_my_exercise/my_exercise.py"}
    assert left == written - made_from_others
    assert "solutions/78_my_exercise/mistakes.md" in written and sum("/right/" in name for name in written) == 3
    assert refused.stderr.count("make verify EX=78") == len(left) + 1 == len(refused.stderr.splitlines()) / 2
    assert "mistakes.md:1: there is no misconception task" in refused.stderr


HAS, WIDE = "README.md: the lesson has", f"```\n{'#' * 77}\n```\n"
MISCONCEPTION = '[misconceptions.halves]\ntitle = "Half"\nsection = "Half"\n\n[points]'
TOGETHER = {  # what verify finds in one run: file, what stands there, what instead, where and what verify says
    "nothing can be run": [
        (FACTS, "fresh_double = 1\n", "", "test_double.py:7: the check fresh_double has no points"),
        (FACTS, "[points]", "[points]\nx = 1", "exercise.toml:4: x has points, and there is no such"),
        (FACTS, "8.0]]", "8.0]", "exercise.toml:14: example: not numbers (write digits, inf or -inf"),
        (FACTS, '"documented_double"', '"other"', "exercise.toml:14: the number example belongs to"),
        (WRONG, "The input", "TODO: The input", "mistakes.md:36: a TODO is left"),
        (
            WRONG,
            "-    return 2 * x\n+    return x * x",
            "-    return 2  * x\n+    return x * x",
            "mistakes.md:15: double has no line return 2  * x; the nearest is return 2 * x\n",
        ),
        (STUB, "what it gives", "what it takes", "double.py:7: the stub differs from the solution"),
        (PAGE, "# 77 Double", "# 78 TODO", "README.md:1: a TODO is left"),
        (PAGE, "# 78", "# 78", "README.md:1: the lesson does not begin with `# 77 `"),
        (PAGE, "### Task 1", "### Tasks", "README.md: the lesson has no heading `### Task 1: …`"),
    ],
    "it was run": [
        (HINTS_FILE, "## Task 1", "## Task 2", "hints.md: there is no heading `## Task 1`"),
        (WRONG, "# in-place", "# no-such", "mistakes.md:1: there is no misconception no-such"),
        (FACTS, "[points]", MISCONCEPTION, "exercise.toml:3: the lesson has no section “Half”"),
        (FACTS, "[points]", "[points]", "exercise.toml:3: halves has no hint"),
        (WRONG, "the sum.", "the sum", "mistakes.md:20: tripled has no sentence for the learner"),
        (WRONG, "x + 2", "x + x", "mistakes.md:3: added_two passes every check"),
        (WRONG, "return x * x", "raise NotImplementedError", "mistakes.md:11: squared is not judged at all"),
        (
            WRONG,
            "torch.cat([2 * x[:1], x[1:]])",
            "x + x + x",
            "mistakes.md:28: in documented_double, fresh_double first_row_only answers as tripled does",
        ),
        (WRONG, "x.mul_(2)", "x - 1", "test_double.py:13: no mistake fails the check inputs_unchanged"),
        (ADDED_FILE, "x + x", "x + 1", "style_1.py: this right answer does not pass fresh_double"),
        (SHOWN_FILE, 'documented["example"]', "2 * x", "exercise.toml:18: no check looks"),
    ],
    "files are missing": [
        (STUB, None, None, "double.py: the stub is missing\n    Make it: make verify EX=77 WRITE=1"),
        (WRONG, None, None, "mistakes.md: the file of known mistakes is missing"),
        (ADDED_FILE, None, None, "right: 2 right answers in other styles are here, and 3"),
        (HINTS_FILE, None, None, "hints.md: the page of hints is missing"),
        (EXPERIMENT_FILE, None, None, "experiment.py: the experiment is missing"),
        (NOTICE_FILE, None, None, "notice.md: the text on what to notice in the solution is missing"),
        (SCRIPT_FILE, None, None, "figure.js: the interactive figure is missing"),
        (FIGURE_FILE, None, None, "figure.py: the numbers of the figure are missing"),
        (CASES_FILE, None, None, f"{FOLDER}.py: the cases of the figure are missing"),
    ],
    "an experiment, a notice and a figure": [
        (EXPERIMENT_FILE, "CLAIM", "BARS", "experiment.py: the experiment defines no CLAIM"),
        (EXPERIMENT_FILE, "in one line?", "in one line.", "experiment.py:1: the first line of the experiment's"),
        (PAGE, "## Experiment", "## Trial", "the lesson has no heading `## Experiment`"),
        (NOTICE_FILE, "Dig deeper:", "Deeper:", "notice.md:1: it does not say what to notice"),
        (FIGURE_FILE, '"example"', '"exam"', "figure.py: the figure shows 'exam' first"),
        (SCRIPT_FILE, "export default", "export", "figure.js: the figure has no `export default"),
        (CASES_FILE, 'Case([{"Factor": 5', '# Case([{"Factor": 5', f"{FOLDER}.py:13: 2 cases of the figure"),
    ],
    "a lesson without its parts, and a figure that cannot be run": [
        (PAGE, "You write", "# You write", "README.md: the lesson has no title, and what one writes"),
        (PAGE, "30 minutes", "A while", "README.md: the lesson has no line `*25 minutes · easy · builds on …*`"),
        (PAGE, "three questions<", "questions<", "README.md: the lesson has no folded `Before you start: three q"),
        (PAGE, "answers?**", "answers.**", "README.md: the lesson has no question in bold, a picture, and a"),
        (PAGE, "(figure.svg)", "(other.svg)", "README.md: the lesson does not show `figure.svg` exactly once"),
        (PAGE, "[common promises]", "[promises]", "README.md: the lesson has no link to the [common promises]"),
        (PAGE, "## Go further", "## Further", "README.md: the lesson has no heading `## Go further`"),
        (PAGE, "## In real code", "## In the world", "README.md: the lesson has no heading `## In real code`"),
        (PAGE, "in two sentences", "aloud", "README.md: the lesson has no question after `**Say it in two sent"),
        (PAGE, "**Guess first.**", "", "README.md: the experiment has no `**Guess first.** …`"),
        (PAGE, "#task-1", "", "README.md: Task 1 does not end with `Stuck? [Hint](hints.md#task-1)`"),
        (PAGE, "<summary>Stuck?", "<summary>Help:", "README.md: the lesson has no folded help"),
        (PAGE, "\n\n</details>", "\n</details>", "README.md: `<details>` and `<summary>…</summary>` need a line each"),
        (PAGE, "one call and", WIDE, "README.md:40: a line of a code block is longer than 76 columns"),
        (FIGURE_FILE, "FIGURE =", "PICTURE =", "figure.py: it cannot be run: TypeError"),
    ],
    "a lesson in another order, and what cannot be read": [
        (
            PAGE,
            "## An example by hand\n\nsmall numbers.\n\n## The formula",
            "## The formula\n\nsmall numbers.\n\n## An example by hand",
            "README.md: the example by hand, the formula and the tasks are not in this order",
        ),
        (PAGE, "what this", "\n\n**Limits.** What this", f"{HAS} more than once what is out of scope"),
        (
            PAGE,
            "**Papers.** where the thing is written down.\n\n**Numbers from** the document",
            "**Numbers from** the document.\n\n**Papers.** where it is written down",
            f"{HAS} the documents of its numbers, after `**Numbers from**` too early",
        ),
        (EXPERIMENT_FILE, "return [", "return ([", "experiment.py:16: it cannot be read: "),
        (CASES_FILE, "CASES = [", "CASES = [[", f"{FOLDER}.py:13: it cannot be read: "),
    ],
    "a solution": [
        (RIGHT, "return 2 * x", "return 2 *", "double.py:16: it cannot be read: invalid syntax"),
        (HIDDEN_FILE, "def test_fresh", "deff test_fresh", "test_double.py:7: it cannot be read"),
    ],
    "a number": [
        (FACTS, "source", "sauce", "exercise.toml: the documented numbers cannot be read: Type"),
        (FACTS, "sauce", "sauce", "argument 'sauce'"),
    ],
    "a mistake that does not run": [
        (WRONG, "x + x + x", "y + x + x", "mistakes.md:19: tripled fails with NameError: name 'y' is not defined")
    ],
    "a check": [(FACTS, '"example"', '"five"', "test_documented.py:12: the check breaks with KeyErr")],
    "an import": [
        (
            WRONG,
            "of the sum.\n```diff\n",
            "of the sum.\n```diff\n@@ imports @@\n+import absent\n",
            "mistakes.md:19: tripled cannot be loaded",
        )
    ],
    "one is missing": [(WRONG, WRITTEN["added_two"], "", "mistakes.md: 4 mistakes are here, and 5 are the least")],
}


@pytest.mark.parametrize("edits", TOGETHER.values(), ids=TOGETHER)
def test_all_disorders_are_told_at_once_with_place_and_what_to_do(house, said, edits):
    for file, old, new, _ in edits:
        if old is None:
            (house / file).unlink()
        else:
            change(house / file, old, new)
    done = said("verify", "77", cwd=house)
    assert done.returncode == 1 and not done.stdout
    for _, _, _, words in edits:
        assert words in done.stderr, done.stderr
    problems, fixes = done.stderr.splitlines()[::2], done.stderr.splitlines()[1::2]
    assert all(problem[0] != " " for problem in problems)
    assert all(fix.startswith("    ") and "make " in fix for fix in fixes)


BROKEN = {  # what an author slips in after the learner's call: what is said of it
    "a name": ("wrong", "NameError: name 'wrong' is not defined"),
    "an import": ("from torch import absent", "ImportError: cannot import name 'absent'"),
    "a local name": ("print(late); late = 1", "UnboundLocalError: "),
    "a function of torch": ("torch.doble(result)", "AttributeError: module 'torch' has no attribute 'doble'"),
    "an attribute of a result": ("result.shpae", "AttributeError: 'Tensor' object has no attribute 'shpae'"),
    "an argument": ("torch.softmax(result)", "TypeError: softmax() "),
    "the words for a failure": (
        "if bool((result != 4).any()):\n        raise Mismach('wrong')",
        "NameError: name 'Mis",
    ),
}


@pytest.mark.parametrize(("slip", "words"), BROKEN.values(), ids=BROKEN)
def test_a_slip_in_a_check_is_its_authors_and_never_blamed_on_a_learner(house, said, slip, words):
    path = house / CHECKS / "test_documented.py"
    lines = path.read_text().splitlines()
    call = next(number for number, line in enumerate(lines) if "learner.double" in line)
    lines[call:] = ["    result = learner.double(torch.tensor([2.0]))", f"    {slip}", lines[call]]
    path.write_text("\n".join(["import torch", *lines]) + "\n")
    place = f"test_documented.py:{call + 3 + slip.count(chr(10))}: the check breaks with {words}"
    wrong = house / "wrong.py"
    wrong.write_text(SOLUTION.replace("2 * x", "3 * x"))
    done = said("check", "77", "--submission", wrong, cwd=house)
    assert done.returncode == 3 and place in done.stderr + done.stdout, done.stdout + done.stderr
    assert "likely" not in done.stdout and "✘" not in done.stdout
    if "Mismach" not in slip:  # the solution does not get there
        done = said("verify", "77", cwd=house)
        assert done.returncode == 1 and place in done.stderr and len(done.stderr.splitlines()) == 2, done.stderr


def test_an_answer_that_a_check_cannot_use_is_still_the_learners(house, said):
    path = house / CHECKS / "test_documented.py"
    change(path, "    expect(", "    learner.double(torch.tensor([2.0])).sum()\n    expect(")
    wrong = house / "wrong.py"
    wrong.write_text(SOLUTION.replace("2 * x", "'four'"))
    done = said("check", "77", "--submission", wrong, cwd=house)
    assert done.returncode == 1 and "which cannot be used" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        ("def test_fresh double():", "test_double.py:1: it cannot be read: SyntaxError: "),
        ("from torch import absent", "test_double.py:1: it cannot be read: ImportError: "),
    ],
)
def test_a_file_of_checks_that_cannot_be_read_is_shown_with_its_line(house, said, slip, words):
    path = house / CHECKS / "test_double.py"
    path.write_text(f"{slip}\n{path.read_text()}")
    right = house / "right.py"
    right.write_text(SOLUTION)
    done = said("check", "77", "--submission", right, cwd=house)
    assert done.returncode == 3 and words in done.stdout + done.stderr, done.stdout + done.stderr


def test_a_mistake_without_a_sentence_is_told_of_no_other_one(house, said):
    change(house / WRONG, MISTAKES["squared"][0] + "\n", "")
    done = said("verify", "77", cwd=house)
    assert "mistakes.md:12: squared has no sentence for the learner" in done.stderr
    assert "not the sentence of" not in done.stderr, done.stderr


def test_a_solution_that_fails_is_told_with_each_check_and_nothing_else(house, said):
    for file in (RIGHT, WRONG):
        change(house / file, "return 2 * x", "return 3 * x")
    done = said("verify", "77", cwd=house)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 2
    assert "test_documented.py:9: the solution does not pass documented_double" in done.stderr


def test_a_learners_bundle_has_no_hidden_checks_and_still_grades(house, said):
    (house / "grader/checks/77_double/test_double.py").unlink()
    shutil.rmtree(house / "solutions")
    right = house / "right.py"
    right.write_text(SOLUTION)
    done = said("check", "77", "--submission", right, cwd=house)
    assert done.returncode == 0, done.stdout + done.stderr
