"""The topics to teach again: the mistakes of a class, summed by misconception."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from grader import catalog
from grader.catalog import misconceptions
from grader.catalog.misconceptions import Misconception
from grader.classroom.rows import Kind
from grader.classroom.summary import Summary
from grader.records.results import AND, OR


@dataclass(frozen=True)
class Lesson:
    """A misconception in the class. students: who showed it, by index of row; exercises: indexes, the commonest first.

    example: the sentence that most of them read, with the index of its exercise.
    """

    misconception: Misconception
    students: tuple[int, ...]
    exercises: tuple[int, ...]
    example: Kind


def to_teach(summary: Summary) -> list[Lesson]:
    """The misconceptions that somebody showed, that of most students first.

    A student counts once for each, however many exercises and checks show it. Diagnoses that no known mistake gave
    belong to none.
    """
    students: dict[str, list[int]] = defaultdict(list)
    kinds: dict[str, Counter[Kind]] = defaultdict(Counter)
    for number, row in enumerate(summary.rows):
        occurrences = {
            (misconception.id, index, sentence)
            for kind in row.diagnoses
            for misconception, index, sentence in _shown(summary, kind)
        }
        for id in {id for id, _, _ in occurrences}:
            students[id].append(number)
        for id, index, sentence in occurrences:
            kinds[id][index, sentence] += 1
    lessons = [
        _lesson(misconception, students[id], kinds[id])
        for id, misconception in misconceptions.misconceptions().items()
        if kinds[id]
    ]
    return sorted(lessons, key=lambda lesson: -len(lesson.students))


def again(misconception: Misconception) -> str:
    """The lesson and its section, in words: "06 Scaled dot-product attention, “The formula”"."""
    return f"{misconception.lesson} {catalog.find(misconception.lesson).title}, “{misconception.section}”"


def _lesson(misconception: Misconception, students: list[int], kinds: Counter[Kind]) -> Lesson:
    by_exercise: Counter[int] = Counter()
    for (index, _), count in kinds.items():
        by_exercise[index] += count
    exercises = sorted(by_exercise, key=lambda index: (-by_exercise[index], index))
    example = min(kinds, key=lambda kind: (-kinds[kind], kind))
    return Lesson(misconception, tuple(students), tuple(exercises), example)


def _shown(summary: Summary, kind: Kind) -> list[tuple[Misconception, int, str]]:
    """The misconceptions behind a diagnosis, which may name two mistakes; of "one or the other" the first counts."""
    index, diagnosis = kind
    sentences = diagnosis.partition(OR)[0].split(AND)
    of_sentence = misconceptions.of_sentences(summary.exercises[index].folder)
    return [(of_sentence[sentence], index, sentence) for sentence in sentences if sentence in of_sentence]
