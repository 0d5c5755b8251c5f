"""How long a lesson takes, by one rule for all. It is an estimate: nobody was timed. docs/self-study.md says the same.

The words outside of code are read at WORDS_A_MINUTE, which is slow reading, as for a textbook. Then each task costs
TASK_MINUTES to understand and to check, and each line that the stub lacks LINE_MINUTES to write, more where the lesson
says that it is harder.
"""

import re
from collections.abc import Iterator

from grader.authoring.lesson_parts import TASK
from grader.authoring.problem import Problem, again, line_of
from grader.catalog import paths, stubs

WORDS_A_MINUTE = 120
TASK_MINUTES, LINE_MINUTES = 3.0, 1.0
HARDER = {"easy": 1.0, "medium": 1.25, "hard": 1.5}
STEP = 5  # minutes that a lesson's number is rounded to
TOLD = re.compile(r"\*\*Time\*\* about (\d+) minutes(?! \(TODO)")
DIFFICULTY = re.compile(r"\*\*Difficulty\*\* (easy|medium|hard)\b")
UNREAD = re.compile(r"^```.*?^```$|\]\([^)\s]*\)", re.M | re.S)  # code, and the addresses of links
WORD = re.compile(r"[A-Za-z']+")


def minutes(folder: str) -> int:
    """The minutes of a lesson by the rule. Raises OSError where it or its solution is absent."""
    lesson, solution = (path.read_text("utf-8") for path in (paths.lesson(folder), paths.solution(folder)))
    lines = _lines(solution) - _lines(stubs.make(solution))
    tasks = len(TASK.findall(lesson))
    difficulty = DIFFICULTY.search(lesson)
    writing = TASK_MINUTES * tasks + LINE_MINUTES * (lines + tasks)  # in the stub one line stands for each task
    factor = HARDER[difficulty[1]] if difficulty else 1.0
    return STEP * round((len(WORD.findall(UNREAD.sub("", lesson))) / WORDS_A_MINUTE + factor * writing) / STEP)


def wrong(folder: str) -> Iterator[Problem]:
    """The minutes that a lesson announces must be those of the rule."""
    lesson = paths.lesson(folder)
    announced = TOLD.search(lesson.read_text("utf-8")) if lesson.exists() else None
    if announced is None or not paths.solution(folder).exists():
        return
    if int(announced[1]) != (ruled := minutes(folder)):
        mend = f"Write `- **Time** about {ruled} minutes (an estimate)`, then: {again(folder)}"
        line = line_of(lesson, r"\*\*Time\*\*")
        yield Problem(f"by the rule for all lessons it takes about {ruled} minutes", lesson, mend, line)


def _lines(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())
