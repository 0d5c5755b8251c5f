"""The fast road of a class gives the verdicts of the slow one; what is taken for alike is alike."""

import io
import json
import re
from dataclasses import asdict, replace

import pytest
from thorough import sample

from grader import catalog
from grader.catalog import mistakes, paths
from grader.classroom import alike
from grader.classroom.job import Job
from grader.classroom.tasks import Task
from grader.judge import examiner
from grader.records.normal_form import normal_form
from grader.records.submission import Submission

SEED = 11
SOFTMAX = paths.solution(catalog.find("02").folder).read_text("utf-8")


def hand_ins(exercise) -> list[Submission]:
    """The solution, right answers in other styles, known mistakes, the stub, what crashes; each of them twice."""
    files = [paths.solution(exercise.folder), paths.stub(exercise.folder), *sample(paths.styles(exercise.folder), 1)]
    sources = [path.read_text("utf-8") for path in files]
    sources += [mistake.source for mistake in sample(mistakes.mistakes(exercise.folder), 3)]
    sources += [sources[0] + "\nraise SystemExit\n", sources[0].replace("return", "return 1 +", 1), "def f(:\n"]
    # In the last function: the answers of those before it come first.
    *_, last = re.finditer(r"^( +)return .*$", sources[0], flags=re.M)
    for end in ("while True:\n{0}    pass", "import os\n{0}os._exit(3)"):
        sources.append(sources[0][: last.start()] + last[1] + end.format(last[1]) + sources[0][last.end() :])
    once = [Submission(f"# {number}\n{source}", f"{exercise.slug}.py") for number, source in enumerate(sources)]
    return [*once, *(replace(one, source=f"#{one.source}") for one in reversed(once))]


def told(result) -> dict:
    """All that a learner reads."""
    checks = [(check.id, check.outcome, check.message, check.diagnosis) for check in result.checks]
    return {"status": result.status, "points": result.points, "message": result.message, "checks": checks,
            "output": result.output, "notes": result.notes}  # fmt: skip


@pytest.mark.parametrize("number", sample(["07", "02", "04"], 1))
def test_rehearsed_verdicts_are_those_of_a_submission_alone(number, fork_server):
    exercise, settings = catalog.find(number), examiner.Settings(seed=SEED, reveal=False)
    exercise = replace(exercise, limits=replace(exercise.limits, call_cpu_s=0.3))  # loops end sooner
    handed_in, results = hand_ins(exercise), []
    examiner.grade_all(exercise, handed_in, fork_server, settings, lambda _, result: results.append(result))
    assert len(results) == len(handed_in)
    half = len(handed_in) // 2
    for submission, result, again in zip(handed_in[:half], results, reversed(results)):
        alone = told(examiner.grade(exercise, submission, fork_server, settings))
        assert told(result) == alone, submission.source[:200]
        assert told(again) == alone, submission.source[:200]


@pytest.mark.parametrize(
    "one, other",
    [
        (f"# Ada\n{SOFTMAX}", f"# Ben\n{SOFTMAX}"),
        (SOFTMAX, f"{SOFTMAX}\n\n# the end\n"),
        (SOFTMAX.replace("    return", "    # so\n    return"), SOFTMAX.replace("    return", "\n    return")),
    ],
)
def test_files_that_differ_in_comment_lines_are_alike(one, other):
    assert one != other and code(one) == code(other) is not None


@pytest.mark.parametrize(
    "other",
    [
        f"# Ada\n{SOFTMAX}",  # every line number is another
        SOFTMAX.replace("dim", "axis", 1),
        SOFTMAX.replace("    return", "    return  ", 1),
        SOFTMAX + '\nX = """\n# no comment\n"""\n',
        SOFTMAX + '\nX = """\n# none\n"""\n',
    ],
)
def test_what_may_differ_when_it_runs_is_not_alike(other):
    assert code(SOFTMAX) != code(other) is not None


@pytest.mark.parametrize(
    "more",
    [
        "import inspect",
        "import linecache",
        "def f():\n    import time",
        "from traceback import format_exc",
        "x = open('x')\ny = eval('1')",
        "def f(:",
    ],
)
def test_what_could_read_its_own_comments_is_judged_alone(more):
    assert codes(f"{SOFTMAX}\n{more}\n") == alike.Codes()


MEAN = '''
import torch

def mean(x, dim=-1):
    """The mean."""
    total = x.sum(dim=dim)
    count = x.shape[dim]
    return total / count
'''


@pytest.mark.parametrize(
    "other",
    [
        MEAN.replace('    """The mean."""\n', ""),
        MEAN.replace("total", "s").replace("count", "n"),
        MEAN.replace("x.sum(dim=dim)", "x.sum(\n        dim = dim\n    )"),
        MEAN.replace("return total / count", "mean_of_x = total / count  # the mean\n    return mean_of_x"),
        MEAN.replace("return total / count", "x = total / count\n    return x"),
        MEAN.replace("total = ", "total: torch.Tensor = "),
        f"NAME = 'Ada'\n{MEAN}\nSTUDENT_ID = 17\n",
        f'{MEAN}\nif __name__ == "__main__":\n    print(mean(torch.ones(2, 3)))\n',
    ],
)
def test_what_has_no_effect_is_not_in_the_normal_form(other):
    assert codes(other).form == codes(MEAN).form is not None
    assert codes(other).lines != codes(MEAN).lines


@pytest.mark.parametrize(
    "other",
    [
        MEAN.replace("dim=-1", "dim=-2"),
        MEAN.replace("x.shape", "torch.shape"),
        MEAN.replace("count = x.shape[dim]", "count = total.shape[dim]"),
        MEAN.replace("total / count", "count / total"),
        MEAN.replace("(x, dim", "(values, dim").replace("x.", "values."),  # an argument's name is asked for
        MEAN.replace("mean(x", "average(x"),
        MEAN.replace("return total / count", "total = total / count\n    return total"),
        MEAN.replace("return total / count", "count = count / total\n    return count"),
        f"{MEAN}\ntorch = 3\n",
        f"{MEAN}\nmean = 3\n",
        f"sum = 1\n{MEAN}\nprint(sum)\n",
        f'__name__ = "__main__"\n{MEAN}\nif __name__ == "__main__":\n    mean = None\n',
        f'{MEAN}\nif __name__ == "__main__":\n    pass\nelse:\n    mean = None\n',
        f'{MEAN}\nif __name__ != "__main__":\n    mean = None\n',
        f"{MEAN}\nX = 1.0\nY = X\n",
    ],
)
def test_what_has_an_effect_is_in_the_normal_form(other):
    assert codes(other).form != codes(MEAN).form is not None


def test_a_name_that_only_its_assignment_makes_local_stays_assigned():
    """Without it, `scale` would be the module's: the first source fails when it runs, the second does not."""
    local = "scale = 2.0\ndef f(x):\n    scale = scale * x\n    return scale\n"
    assert codes(local).form != codes("scale = 2.0\ndef f(x):\n    return scale * x\n").form
    captured = "def f(x):\n    y = [lambda: y for _ in x]\n    return y\n"
    assert codes(captured).form != codes("def f(x):\n    return [lambda: y for _ in x]\n").form


@pytest.mark.parametrize(
    "more",
    [
        "print(mean.__doc__)",
        "print(getattr(mean, '__doc__'))",
        "def f():\n    a = 1\n    return locals()",
        "help(mean)",
    ],
)
def test_what_may_see_its_words_has_no_normal_form(more):
    assert codes(f"{MEAN}\n{more}\n").form is None


def test_a_name_that_a_rule_of_the_exercise_reads_is_no_form_s_matter():
    rules = catalog.find("02").forbidden
    assert codes(SOFTMAX, rules).form == codes(SOFTMAX).form is not None
    other = "import torch\n\ndef softmax_naive(x, dim=-1):\n    return torch.softmax(x, dim)\n"
    assert codes(other).form is not None and codes(other, rules).form is None


@pytest.mark.parametrize("folder", sample([exercise.folder for exercise in catalog.exercises()], 6))
def test_no_known_mistake_has_the_normal_form_of_a_right_answer(folder):
    paths_of_right = [paths.solution(folder), *paths.styles(folder)]
    right = {normal_form(path.read_text("utf-8")) for path in paths_of_right} - {None}
    wrong = {normal_form(mistake.source) for mistake in mistakes.mistakes(folder)}
    assert right and not right & wrong


def test_only_a_result_that_names_no_line_is_that_of_all_with_the_same_normal_form(fork_server):
    exercise, settings = catalog.find("03"), examiner.Settings(seed=SEED, reveal=False)
    source = paths.solution(exercise.folder).read_text("utf-8")
    for more in ("", "print(1)", "1 / 0", "attention_weights = 1"):  # nothing, a print, a note on its line, a failure
        submission = Submission(f"{source}\n{more}\n", f"{exercise.slug}.py")
        result = examiner.grade(exercise, submission, fork_server, settings)
        assert alike.names_no_line(submission, result) is (not more), more


def test_a_right_answer_with_the_normal_form_of_another_needs_no_worker(fork_server):
    exercise = catalog.find("03")
    source = paths.solution(exercise.folder).read_text("utf-8")
    other = f"NAME = 'Ada'\n{source}".replace("scores", "s")
    wrong = source.replace("dim=-1", "dim=0")
    tasks = [
        json.dumps(asdict(Task(f"key {number}", exercise.folder, text, f"{exercise.slug}.py")))
        for number, text in enumerate((source, other, wrong, f"NAME = 'Ada'\n{wrong}"))
    ]
    answers = io.StringIO()
    job = Job(io.StringIO("\n".join(tasks)), answers)
    job.fork_server, job.task, workers = fork_server, job.next(), fork_server.spent.workers
    settings = examiner.Settings(seed=SEED, reveal=False)
    examiner.grade_all(exercise, job.row(exercise), fork_server, settings, job.record)
    statuses = [json.loads(line)["status"] for line in answers.getvalue().splitlines()]
    assert statuses == ["passed", "passed", "failed", "failed"]
    assert fork_server.spent.workers - workers == 3


def codes(source: str, rules=()) -> alike.Codes:
    return alike.codes(Submission(source, "softmax_naive.py"), rules)


def code(source: str) -> str | None:
    return codes(source).lines
