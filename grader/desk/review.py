"""Questions on exercises that were passed, some days later: which are due, how they are asked, and how code is judged.

A card comes the day after the first pass, and after it was known a week, a month and then 90 days later. One that was
not known comes again the next day, and starts from the first step. Nothing here counts as an attempt or gives points.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import NamedTuple

from rich.console import Console
from rich.padding import Padding
from rich.prompt import Confirm
from rich.text import Text

from grader import catalog
from grader.catalog import cards
from grader.catalog.cards import Card
from grader.catalog.errors import InfrastructureError
from grader.desk import checkout, lesson, progress
from grader.records.causes import Cause, causes
from grader.records.results import ERROR, NOT_GRADED, PASSED, Settings
from grader.records.submission import Submission
from grader.reports import terminal
from grader.sandbox.forkserver import ForkServer

DAYS = (1, 7, 30, 90)  # after the first pass, and after each time that a card was known
AT_ONCE = 3  # cards of one review
TRIES = 2  # at a code card
FILE = "your answer"
SEED = 1  # the same answer gets the same verdict
INDENT = 2


class Scheduled(NamedTuple):
    """A card, and the day from which on it is asked."""

    card: Card
    due: date


def today() -> date:
    """The day by this machine's clock."""
    return date.today()


def schedule() -> list[Scheduled]:
    """Every card of the exercises that were passed, by its day."""
    states, scheduled = progress.load(), []
    for exercise in catalog.exercises():
        state = progress.state(exercise.folder, states)
        if state.done:
            scheduled += [Scheduled(card, _due(state, card)) for card in cards.read(exercise.folder)]
    return sorted(scheduled, key=lambda entry: entry.due)


def due(scheduled: Sequence[Scheduled]) -> list[Card]:
    """The cards that are due today, the longest waiting first."""
    return [entry.card for entry in scheduled if entry.due <= today()]


def note(card: Card, is_known: bool) -> None:
    """Record an answer."""

    def update(state: progress.State) -> None:
        """Write the next day into the state of the exercise."""
        step = state.cards[card.title].step if card.title in state.cards else 0
        step = step + 1 if is_known else 0
        days = timedelta(days=DAYS[min(step, len(DAYS) - 1)])
        state.cards[card.title] = progress.CardState(step, (today() + days).isoformat())

    progress.change(card.exercise, update)


def count(number: int) -> str:
    """How many questions are due, and what to type."""
    return f"{number} {'question is' if number == 1 else 'questions are'} due: make review" if number else ""


def outlook(scheduled: Sequence[Scheduled]) -> str:
    """What comes next: how many cards are due now, or when the next one will be."""
    if due(scheduled) or not scheduled:
        return count(len(due(scheduled)))
    first = scheduled[0].due
    return f"The next question comes {'tomorrow' if first == today() + timedelta(days=1) else f'on {first}'}."


def judge(card: Card, typed: str, fork_server: ForkServer) -> Cause | str | None:
    """Grade what was typed at a code card by the checks of its exercise. Returns what is wrong, None for nothing.

    The other functions are not written: checks that fail for that alone say nothing. Raises InfrastructureError.
    """
    from grader.judge import grading  # heavy: torch

    source = f"{checkout.source(card.exercise)}\n\n{card.fill(typed)}"
    result = grading.result(catalog.find(card.exercise), Submission(source, FILE), fork_server, Settings(seed=SEED))
    if result.status == NOT_GRADED:
        raise InfrastructureError(result.message)
    if result.status == ERROR:
        return result.message
    failures = [cause for cause in causes(result) if not cause.example.is_unwritten]
    if failures or any(check.outcome == PASSED for check in result.checks):
        return next(iter(failures), None)
    return f"Only {card.function} is written here: use no other function of the exercise."


def show(console: Console, card: Card, place: str) -> None:
    """Print the question of a card. place: which of how many it is."""
    exercise = catalog.find(card.exercise)
    head = f"{exercise.folder[:2]} {exercise.title}  {place}"
    console.print("", Text(head, "dim"), Text(card.title.replace("`", ""), "bold"), "", sep="\n")
    _print(console, card.question)


def ask(console: Console, chosen: Sequence[Card], fork_server: ForkServer | None) -> None:
    """Ask one card after the other, and record each answer at once. Ctrl-C and Ctrl-D end it.

    fork_server: for code cards, where there are some. Raises InfrastructureError.
    """
    known = again = 0
    with contextlib.suppress(KeyboardInterrupt, EOFError):
        for number, card in enumerate(chosen, 1):
            show(console, card, f"{number} of {len(chosen)}")
            is_known = _write(console, card, fork_server) if card.function and fork_server else _recall(console, card)
            note(card, is_known)
            known, again = known + is_known, again + (not is_known)
            if card.function and not is_known and number < len(chosen):
                _prompt(console, "Enter goes on. ")  # the answer is still to be read
    words = f"{known} of {known + again} known. " if known + again else "Nothing was answered. "
    words += f"{again} {'comes' if again == 1 else 'come'} again tomorrow. " if again else ""
    console.print("", Text(words + outlook(schedule()), "dim"), sep="\n")


def _due(state: progress.State, card: Card) -> date:
    """The day from which on a card is asked."""
    if card.title in state.cards:
        return date.fromisoformat(state.cards[card.title].due)
    return date.fromtimestamp(state.first_pass or 0) + timedelta(days=DAYS[0])


def _recall(console: Console, card: Card) -> bool:
    """Show the answer after Enter. Returns whether the learner knew it."""
    _prompt(console, "Enter shows the answer. ")
    _print(console, card.answer)
    return Confirm.ask("Did you know it?", console=console)


def _write(console: Console, card: Card, fork_server: ForkServer) -> bool:
    """Judge what is typed, TRIES times at most; then show the answer. Returns whether it was right."""
    what = "the rest of the line" if card.lead else "what is missing, then an empty line"
    console.print(Text(f"Type {what}. Enter alone shows the answer.", "dim"))
    for left in reversed(range(TRIES)):
        typed = _typed(card)
        if not typed.strip():
            break
        with console.status("[dim]Grading …"):
            wrong = judge(card, typed, fork_server)
        if wrong is None:
            sign, style = terminal.SIGNS["passed"]
            console.print(Text(f"{sign} Right.", style))
            return True
        _print_wrong(console, wrong)
        if left:
            console.print(Text("Try once more. Arrow up brings back what you typed.", "dim"))
    console.print("", Text("One right answer:", "bold"), "", sep="\n")
    _print(console, card.answer)
    return False


def _typed(card: Card) -> str:
    """What is typed at a code card, one line or several."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # input() then edits a line with the arrow keys
    lines = [input(card.lead or ">>> ")]
    while not card.lead and lines[-1].strip():
        lines.append(input("... "))
    return "\n".join(lines).encode("utf-8", "replace").decode()  # a terminal may send what is no text


def _prompt(console: Console, text: str) -> str:
    """Ask for a line, and leave an empty one below it."""
    line = input(text)
    console.print()
    return line


def _print(console: Console, markdown: str) -> None:
    """Print Markdown, indented."""
    console.print(Padding(lesson.render(markdown), (0, 0, 1, INDENT)))


def _print_wrong(console: Console, wrong: Cause | str) -> None:
    """Print what the grader says. Nobody sees the lines around the answer, so no number of a line is shown."""
    sign, style = terminal.SIGNS["failed"]
    if isinstance(wrong, str):
        lines = terminal.wrap(f"{sign} {wrong}", console.width, style, 2)
    else:
        (first, _), *rest = terminal.cause_lines(replace(wrong, finding=replace(wrong.finding, place=None, frame=())))
        lines = [(f"{sign} {first}", style), *((f"  {text}", more) for text, more in rest)]
    terminal.show_lines(lines, console)
