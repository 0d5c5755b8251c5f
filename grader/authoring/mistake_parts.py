"""Finds the problems of an exercise's known mistakes that reading them shows, and of the misconceptions they show."""

from collections.abc import Iterator

from grader.authoring.problem import Problem, again, line_of
from grader.catalog import Exercise, misconceptions, mistake_slips, mistakes, patches, paths
from grader.catalog.mistakes import BadMistake, Mistake

SENTENCE_END = (".", "?", "!")
MIN_SENTENCE = 30  # characters
MIN_MISTAKES = 5
TODO = "TODO"


def problems(exercise: Exercise) -> Iterator[Problem]:
    """Each mistake must apply to the solution, have a sentence of its own, and show a known misconception."""
    folder = exercise.folder
    path, fix = paths.mistakes(folder), f"Change it, then: {again(folder)}"
    try:
        known = mistakes.mistakes(folder)
        for mistake in known:
            mistake.compose()
    except BadMistake as error:
        yield Problem(error.reason, error.path, fix, error.line, blocks=True)
        return
    if len(known) < MIN_MISTAKES:
        reason = f"{len(known)} mistakes are here, and {MIN_MISTAKES} are the least"
        yield Problem(reason, path, f"Write down each mistake that learners make, then: {again(folder)}")
    for mistake in known:
        for refusal in (*patches.refusals(mistake.solution, mistake.hunks), *mistake_slips.slips(mistake)):
            yield Problem(refusal.reason, path, fix, refusal.line)
    yield from _sentences(folder, known)
    yield from _misconceptions(exercise, known)


def _sentences(folder: str, known: tuple[Mistake, ...]) -> Iterator[Problem]:
    """Each sentence must be one, and its mistake's alone."""
    by_sentence: dict[str, Mistake] = {}
    for mistake in known:
        sentence, line = mistake.sentence, mistake.line + 1
        if TODO in sentence:
            continue
        if len(sentence) < MIN_SENTENCE or not sentence.endswith(SENTENCE_END):
            reason = f"{mistake.name} has no sentence for the learner ({MIN_SENTENCE} characters, and a full stop)"
            yield Problem(reason, mistake.path, f"Write what is wrong and where to look, then: {again(folder)}", line)
        elif sentence in by_sentence:
            reason = f"{mistake.name} has the same sentence as {by_sentence[sentence].name}"
            yield Problem(reason, mistake.path, f"Say what is wrong in this one alone, then: {again(folder)}", line)
        by_sentence[sentence] = mistake


def _misconceptions(exercise: Exercise, known: tuple[Mistake, ...]) -> Iterator[Problem]:
    """Each mistake must show a misconception that exists; those of this exercise must name sections of its lesson."""
    folder, path = exercise.folder, paths.mistakes(exercise.folder)
    by_id = misconceptions.misconceptions()
    for id in dict.fromkeys(mistake.misconception for mistake in known):
        if id not in by_id:
            fix = f"Take one of {', '.join(by_id)}, or describe it in an exercise.toml, then: {again(folder)}"
            yield Problem(f"there is no misconception {id}", path, fix, line_of(path, rf"^# {id}\s*$"))
    lesson, toml = paths.lesson(folder), paths.exercise_toml(folder)
    text = lesson.read_text("utf-8") if lesson.exists() else ""
    for misconception in exercise.misconceptions:
        if not misconceptions.heading(text, misconception.section):
            fix = f"Name another section of {misconception.id}, then: {again(folder)}"
            line = line_of(toml, rf"^\[misconceptions\.{misconception.id}\]")
            yield Problem(f"the lesson has no section “{misconception.section}”", toml, fix, line)
