"""`make try`: the lessons' example calls on the learner's file, beside the lessons' own numbers."""

import re

import pytest
from extras import skip_unless_here
from sources import replace_in

from grader import catalog
from grader.catalog import paths, stubs
from grader.desk import lesson, tryout
from grader.records import submission
from grader.records.submission import Submission

FIRST = catalog.find("01")
VALUES = (  # the learner's, the lesson's, whether they are equal
    ("tensor(0.954412345)", "tensor(0.9544)", True),
    ("tensor(0.955412345)", "tensor(0.9544)", False),
    ("tensor([1., nan])", "tensor([1., 0.])", False),
    ("tensor([1., -inf])", "tensor([1.0000,   -inf])", True),
    ("tensor([1.5, 2.], grad_fn=<AddBackward0>)", "tensor([1.5000, 2.0000])", True),
    ("tensor([0.666666687, -0.333333343, 0.])", "tensor([1., 0., 0.])", False),
    ("tensor([0.999999940, 2.000000238])", "tensor([1., 2.])", True),
    ("1.04", "1.0", False),
    ("2360065", "2360064", False),
    ("['a', 'c']", "['a', 'b']", False),
    ("0.9544", "tensor(0.9544)", False),
    ("tensor([[1., 2.]])", "tensor([1., 2.])", False),
)
WAITING = (  # an exercise, a change of its solution, and what is said of the statement that fails, and of what waits
    # Two tasks of a lesson give their results the same names: nothing of the earlier one takes its place.
    ("05", "def project_columns(", "def other(", "there is no `project_columns`", "keys[0, :4] waits for `keys`"),
    # The lesson's `t` and its list are there, but the learner's function has put nothing into them.
    ("00", "x.mean().detach()", "1 / 0", "less_fixed_mean(t)[0].backward() ZeroDivisionError", "t.grad waits for `t`"),
    # A loop that fails uses torch too, and a module is never waited for.
    ("14", "return F.cross_entropy(", "return F.no_entropy(", "", "torch.tensor(losses)[::25] waits for `losses`"),
)


@pytest.mark.parametrize("exercise", catalog.exercises(), ids=lambda exercise: exercise.folder)
def test_the_solution_gives_every_number_of_the_lesson(exercise, fork_server):
    skip_unless_here(exercise)
    known = lesson.examples(exercise.folder)
    outcomes = [*tryout.run(exercise, submission.read(paths.solution(exercise.folder)), known, fork_server)]
    assert outcomes and len(outcomes) == sum(example.is_shown for example in known)
    for outcome in outcomes:
        assert tryout.is_equal(outcome) is True, outcome


@pytest.mark.parametrize("exercise", catalog.exercises(), ids=lambda exercise: exercise.folder)
def test_the_stub_has_nothing_to_compare_yet(exercise, fork_server):
    skip_unless_here(exercise)
    stub = Submission(stubs.make(paths.solution(exercise.folder).read_text("utf-8")), "stub.py")
    own = re.findall(r"^#+ Task \d+: `(\w+)\(", lesson.text(exercise.folder), re.M)  # the names that one writes
    for outcome in tryout.run(exercise, stub, lesson.examples(exercise.folder), fork_server):
        if any(name in outcome.example.code for name in own):
            assert tryout.is_equal(outcome) is not True, outcome
        assert "NameError" not in outcome.problem and "there is no" not in outcome.problem, outcome
        assert tryout.is_equal(outcome) is not False, outcome


def source(*bodies: str) -> str:
    """A file of exercise 01 with these bodies."""
    heads = ("dot_product(a, b)", "attention_scores_for_query(inputs, query)", "attention_scores(inputs)")
    return "import torch\n" + "".join(f"def {head}:\n    {body}\n" for head, body in zip(heads, bodies))


def test_a_half_written_file_says_so_for_its_call_alone(desk, said):
    path = paths.stub(FIRST.folder)
    path.write_text(
        source("return (a * b).sum() + 0.001", "return inputs @ query[:, None]", "raise NotImplementedError")
    )
    done = said("try", "1", cwd=desk)
    assert done.returncode == 0 and not done.stderr
    assert "yours       tensor(0.9554)\n    the lesson  tensor(0.9544)\n" in done.stdout
    assert "yours       tensor([[" in done.stdout
    assert done.stdout.count("not written yet") == 1 and "0 of 3 are as in the lesson" in done.stdout
    path.write_text(source("import time; time.sleep(99)", "return 1 / 0", "return inputs @ inputs.T"))
    said_of_it = said("try", "1", cwd=desk).stdout
    assert "it ran for more than" in said_of_it and "ZeroDivisionError" in said_of_it
    assert "1 of 3 are as in the lesson" in said_of_it
    path.write_text("def dot_product(a, b:\n")
    broken = said("try", "1", cwd=desk)
    assert broken.returncode == 2 and "SyntaxError" in broken.stderr and "Traceback" not in broken.stderr


def test_what_is_printed_has_no_escapes_of_a_terminal_and_a_warning_of_torch_names_no_file_of_its_sources(desk, said):
    first = "print('\\x1b[2J\\x1b]0;title\\x07seen'); torch.ones(1, 2, 3).T; return a"
    paths.stub(FIRST.folder).write_text(source(first, "return 1", "return 1"))
    text = said("try", "1", cwd=desk).stdout
    assert "\\x1b[2J\\x1b]0;title\\x07seen" in text and "\x1b" not in text
    assert "warning: The use of `x.T`" in text and "Triggered internally" not in text


def test_values_are_equal_to_the_digits_that_the_lesson_prints():
    for mine, printed, is_equal in VALUES:
        assert tryout.compare(mine, mine, printed) == (is_equal, mine), mine
    hidden = "tensor(1.0000)"  # where the printed digits hide the difference, all are shown
    assert tryout.compare(hidden, "tensor(1.000051)", hidden) == (False, "tensor(1.000051)")


def test_what_a_failed_statement_should_have_made_is_waited_for(desk, said):
    for number, old, new, failed, waiting in WAITING:
        paths.stub(catalog.find(number).folder).write_text(replace_in(number, (old, new)))
        text = " ".join(said("try", number, cwd=desk).stdout.split())
        assert failed in text and f"– {waiting}, see above" in text, number
    paths.stub(catalog.find("00").folder).write_text(replace_in("00", (".detach()", "")))
    assert "✘ t.grad yours tensor([" in " ".join(said("try", "0", cwd=desk).stdout.split())


def test_what_a_comment_tells():
    block = "x = 1  # 2\nf(x)  # the first\n# tensor([1., 2.]), as before\nf(0)  # ValueError: no"
    read = lesson.read_examples(f"### Task 2: `f`\n\n```python\n{block}\n```\n")
    assert [(example.code, example.value, example.raises) for example in read] == [
        ("x = 1", "", ""),
        ("f(x)", "tensor([1., 2.])", ""),
        ("f(0)", "", "ValueError"),
    ]
    assert lesson.read_examples("## Other\n\n```python\nf(0)  # 1\n```\n") == ()
