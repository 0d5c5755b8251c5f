"""The parts that a complete exercise has: each that is missing, wrong or not filled in is a problem with a place."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import Exercise, cards, documented, mistakes, paths, stubs
from grader.catalog.errors import BadLine
from grader.catalog.mistakes import Mistake
from grader.judge import figure

# The parts of a lesson in their order, each once: what a message calls it, and how it is found.
PAGE = {
    "a title, and what one writes": r"\A# \d\d .+\n\n(?=\w)",
    "a line `*25 minutes · easy · builds on …*`": r"^\*\d+ minutes · (?:easy|medium|hard) · builds on .+\*$",
    "a folded `Before you start: three questions`": r"^<summary>Before you start: three questions</summary>$",
    "a folded `The three answers`": r"^<summary>The three answers</summary>$",
    "a question in bold, a picture, and a heading `## Why …`, one below the other": (
        r"^\*\*.+\?\*\*\n\n!\[[^\]]*\]\(\w+\.svg\)\n\n## Why .+$"
    ),
    "a heading `## Tasks`": r"^## Tasks$",
    "a heading `### Task 1: …`": r"^### Task 1: .+$",
    "a heading `## Experiment`": r"^## Experiment$",
    "a heading `## Go further`": r"^## Go further$",
    "a heading `## In real code`": r"^## In real code$",
    "a heading `## You can now …` and a sentence that begins with `… `": r"^## You can now …\n\n… ",
    "a question after `**Say it in two sentences.**`": r"^\*\*Say it in two sentences\.\*\* ",
    "a folded `Compare with ours`": r"^<summary>Compare with ours</summary>$",
    "a folded `Promises, conventions, sources and limits`": (
        r"^<summary>Promises, conventions, sources and limits</summary>$"
    ),
    "a link to the [common promises](../../docs/promises.md)": r"\[common promises\]\(\.\./\.\./docs/promises\.md\)",
    "what is out of scope, after `**Limits.**`": r"^\*\*Limits\.\*\*",
    "the papers, after `**Papers.**`": r"^\*\*Papers\.\*\*",
    "the documents of its numbers, after `**Numbers from**`": r"^\*\*Numbers from\*\*",
}
BY_HAND, FORMULA, TASKS = "\n## An example by hand\n", "\n## The formula\n", "\n## Tasks\n"
GUESS = re.compile(r"^## Experiment\n(?:(?!## ).*\n)*\*\*Guess first\.\*\* ", re.M)
TASK = re.compile(r"^### Task (\d+): ", re.M)
HINTS_TASK = re.compile(r"^## Task (\d+)$", re.M)
COLUMNS = 76  # the widest line of a code block that is not cut at the side of a page
BLOCK = re.compile(r"^```.*?\n(.*?)^```", re.M | re.S)
OPENED, CLOSED = re.compile(r"^<details>\n<summary>.+</summary>\n\n", re.M), re.compile(r"\n\n</details>$", re.M)
NAMES = ("measure", "claim", "CLAIM")  # what the script defines, as grader.desk.experiment runs it
FORM = "export default {"
LEAST_CASES = 3  # of what tests/figures does to a figure
SENTENCE_END = (".", "?", "!")
MIN_SENTENCE = 30  # characters
MIN_MISTAKES = 5
MIN_STYLES = 3
MIN_CARDS = 3
TODO = "TODO"
DEEPER = "Dig deeper:"


@dataclass(frozen=True)
class Problem:
    """One defect of an exercise.

    line: from 1 on, 0 where the whole file is meant; fix: the edit that repairs it, or the whole command; blocks:
    whether the checks can only be run once it is repaired. What to type after an edit, `make verify` itself adds.
    """

    reason: str
    file: Path
    fix: str
    line: int = 0
    blocks: bool = False

    def __str__(self) -> str:
        place = f"{paths.shown(self.file)}:{self.line}" if self.line else paths.shown(self.file)
        return f"{place}: {self.reason}\n    {self.fix}"


def check_places(folder: str) -> dict[str, tuple[Path, int]]:
    """Check → its file and line, for all checks of an exercise."""
    places = {}
    for path in paths.checks(folder):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                places[node.name.removeprefix("test_")] = (path, node.lineno)
    return places


def line_of(path: Path, pattern: str) -> int:
    """The number of the first line of a file that matches a regular expression, 0 where none does."""
    lines = path.read_text("utf-8").split("\n")
    return next((number for number, line in enumerate(lines, 1) if re.search(pattern, line)), 0)


def wrong_lesson(folder: str) -> Iterator[Problem]:
    """Problems of the lesson's form, and of the tasks in lesson and hints."""
    lesson = paths.lesson(folder)
    if not lesson.exists():
        return
    text = lesson.read_text("utf-8")
    for what in _wrong_form(text):
        yield Problem(what, lesson, "Write it")
    for line in (line for block in BLOCK.findall(text) for line in block.splitlines() if len(line) > COLUMNS):
        place = line_of(lesson, rf"^{re.escape(line)}$")
        yield Problem(f"a line of a code block is longer than {COLUMNS} columns", lesson, "Break the line", place)
    yield from _tasks(folder)


def wrong_experiment(folder: str) -> Iterator[Problem]:
    """The script must define all required names, and its docstring begin with a question. It is read, not run."""
    script = paths.experiment(folder)
    tree = _read(script)
    if tree is None:
        return
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    defined |= {target.id for target in targets if isinstance(target, ast.Name)}
    for name in NAMES:
        if name not in defined:
            yield Problem(f"the experiment defines no {name}", script, "Fix it")
    if not (ast.get_docstring(tree) or "").partition("\n")[0].endswith("?"):
        yield Problem("the first line of the experiment's docstring is no question", script, "Fix it", 1)


def wrong_figure(folder: str) -> Iterator[Problem]:
    """The script must have anywidget's form, and the numbers that it first shows must be documented."""
    if not figure.has_figure(folder):
        return
    script, numbers, fix = paths.figure_script(folder), paths.figure_data(folder), "Fix it"
    yield from _too_few_cases(paths.figure_cases(folder))
    if FORM not in script.read_text("utf-8"):
        yield Problem(f"the figure has no `{FORM} render({{ model, el }}) … }}`", script, fix)
    try:
        figure.data(folder)
        if not figure.start(folder):
            yield Problem("the figure shows no documented number first: `start` is empty", numbers, fix)
    except KeyError as error:
        yield Problem(f"the figure shows {error} first, and exercise.toml has no such number", numbers, fix)
    except Exception as error:  # whatever an author's module may raise
        yield Problem(f"it cannot be run: {type(error).__name__}: {error}", numbers, fix)


def wrong_cards(folder: str) -> Iterator[Problem]:
    """The cards of `make review` must be enough and in order, and a code card's function must be one of the stub's."""
    path, fix = paths.review(folder), "Write it"
    if not path.exists():
        return
    try:
        all_cards = cards.read(folder)
    except BadLine as error:
        yield Problem(error.reason, path, fix, error.line)
        return
    if len(all_cards) < MIN_CARDS:
        yield Problem(f"{len(all_cards)} cards are here, and {MIN_CARDS} are the least", path, fix)
    stub = ast.parse(stubs.make(paths.solution(folder).read_text("utf-8")))
    functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    for card in all_cards:
        if card.function and card.function not in functions:
            yield Problem(f"the stub has no function `{card.function}`", path, fix, card.line)


def mistake_problems(exercise: Exercise) -> Iterator[Problem]:
    """Each mistake must apply to the solution, have a sentence of its own, and show a known misconception."""
    folder = exercise.folder
    path, fix = paths.mistakes(folder), "Change it"
    try:
        known = mistakes.mistakes(folder)
        for mistake in known:
            mistake.source  # noqa: B018
    except BadLine as error:
        yield Problem(error.reason, error.path, fix, error.line, blocks=True)
        return
    if len(known) < MIN_MISTAKES:
        reason = f"{len(known)} mistakes are here, and {MIN_MISTAKES} are the least"
        yield Problem(reason, path, "Write down each mistake that learners make")
    for mistake in known:
        if refusal := mistakes.revealed(mistake):
            yield Problem(refusal.reason, path, fix, refusal.line)
    yield from _sentences(folder, known)
    yield from wrong_misconceptions(exercise)


def wrong_misconceptions(exercise: Exercise) -> Iterator[Problem]:
    """Each mistake must show a misconception that exists; those of this exercise must name sections of its lesson."""
    folder, path = exercise.folder, paths.mistakes(exercise.folder)
    by_id = mistakes.misconceptions()
    for id in dict.fromkeys(mistake.misconception for mistake in mistakes.mistakes(folder)):
        if id not in by_id:
            fix = f"Take one of {', '.join(by_id)}, or describe it in an exercise.toml"
            yield Problem(f"there is no misconception {id}", path, fix, line_of(path, rf"^# {id}\s*$"))
    lesson, toml = paths.lesson(folder), paths.exercise_toml(folder)
    text = lesson.read_text("utf-8") if lesson.exists() else ""
    for misconception in exercise.misconceptions:
        line = line_of(toml, rf"^\[misconceptions\.{misconception.id}\]")
        if (other := by_id[misconception.id].lesson) != misconception.lesson:
            reason = f"exercise {other} has a misconception {misconception.id} too"
            yield Problem(reason, toml, "Give one of them another id", line)
        if not misconception.hint:
            fix = 'Write hint = "…", a question that leads to the idea'
            yield Problem(f"{misconception.id} has no hint", toml, fix, line)
        if not mistakes.section_heading(text, misconception.section):
            fix = f"Name another section of {misconception.id}"
            yield Problem(f"the lesson has no section “{misconception.section}”", toml, fix, line)


def problems(exercise: Exercise) -> list[Problem]:
    """All problems that reading shows, in the order of the steps in docs/authors.md."""
    folder = exercise.folder
    files = [*_missing(exercise), *_unreadable(folder)]
    if any(problem.blocks for problem in files):
        return [*files, *_todos(folder)]
    parts = (
        _todos(folder),
        _stub(folder),
        _checks(exercise),
        _numbers(exercise),
        mistake_problems(exercise),
        wrong_lesson(folder),
        _notice(folder),
        wrong_experiment(folder),
        wrong_cards(folder),
        wrong_figure(folder),
    )
    return files + [problem for part in parts for problem in part]


def _wrong_form(text: str) -> Iterator[str]:
    """What is missing of PAGE, there twice or in another order; and a guess, an example or folded help that is not."""
    last = -1
    for what, pattern in PAGE.items():
        places = [found.start() for found in re.finditer(pattern, text, re.M)]
        if len(places) != 1:
            yield f"the lesson has {'no' if not places else 'more than once'} {what}".replace("no a ", "no ")
        elif places[0] < last:
            yield f"the lesson has {what} too early"
        else:
            last = places[0]
    order = [text.index(heading) for heading in (BY_HAND, FORMULA, TASKS) if heading in text]
    if order != sorted(order):
        yield "the example by hand, the formula and the tasks are not in this order"
    if text.count("](figure.svg)") != 1:
        yield "the lesson does not show `figure.svg` exactly once"
    if not GUESS.search(text):
        yield "the experiment has no `**Guess first.** …`"
    opened, closed = text.count("<details"), text.count("</details>")
    if "<summary>Stuck?" not in text:
        yield "the lesson has no folded help: `<details>`, `<summary>Stuck? …</summary>`, the help, `</details>`"
    if not opened == closed == len(OPENED.findall(text)) == len(CLOSED.findall(text)):
        yield "`<details>` and `<summary>…</summary>` need a line each and an empty line below, `</details>` one above"


def _tasks(folder: str) -> Iterator[Problem]:
    """The lesson and the hints must number the same tasks, from 1 on."""
    lesson, hints = paths.lesson(folder), paths.hints(folder)
    if not (lesson.exists() and hints.exists()):
        return
    text, fix = lesson.read_text("utf-8"), "Write it"
    parts = TASK.split(text)[1:]  # number, text, number, text …
    tasks = {int(number): part for number, part in zip(parts[::2], parts[1::2])}
    hinted = {int(number) for number in HINTS_TASK.findall(hints.read_text("utf-8"))}
    if not text.startswith(f"# {folder[:2]} "):
        yield Problem(f"the lesson does not begin with `# {folder[:2]} ` and its title", lesson, fix, 1)
    for number in range(1, len(tasks) + 1):
        link = f"Stuck? [Hint](hints.md#task-{number})"
        if number in tasks and f"\n\n{link}\n" not in tasks[number]:
            yield Problem(f"Task {number} does not end with `{link}`", lesson, fix)
        if number not in tasks:
            yield Problem(f"the tasks are not numbered from 1 on: Task {number} is missing", lesson, fix)
        if number not in hinted:
            yield Problem(f"there is no heading `## Task {number}`", hints, fix)


def _too_few_cases(path: Path) -> Iterator[Problem]:
    """The list CASES must hold enough of them. It is read, not run: only the tests can import what a case is."""
    tree = _read(path)
    if tree is None:
        return
    lists = [node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CASES"]
    cases = [case for node in lists if isinstance(node.value, ast.List) for case in node.value.elts]
    if len(cases) < LEAST_CASES:
        line = lists[0].lineno if lists else 0
        reason = f"{len(cases)} cases of the figure are in the list CASES, and {LEAST_CASES} are the least"
        yield Problem(reason, path, "Fix it", line)


def _sentences(folder: str, known: tuple[Mistake, ...]) -> Iterator[Problem]:
    """Each sentence must be one, and its mistake's alone."""
    by_sentence: dict[str, Mistake] = {}
    for mistake in known:
        sentence, line = mistake.sentence, mistake.line + 1
        if TODO in sentence:
            continue
        if len(sentence) < MIN_SENTENCE or not sentence.endswith(SENTENCE_END):
            reason = f"{mistake.name} has no sentence for the learner ({MIN_SENTENCE} characters, and a full stop)"
            yield Problem(reason, mistake.path, "Write what is wrong and where to look", line)
        elif sentence in by_sentence:
            reason = f"{mistake.name} has the same sentence as {by_sentence[sentence].name}"
            yield Problem(reason, mistake.path, "Say what is wrong in this one alone", line)
        by_sentence[sentence] = mistake


def _missing(exercise: Exercise) -> Iterator[Problem]:
    """The files that every exercise needs, and those of its figure, which a warm-up may do without."""
    folder = exercise.folder
    if paths.solution(folder).exists() and not paths.stub(folder).exists():
        fix = f"Make it: make verify EX={folder[:2]} WRITE=1"
        yield Problem("the stub is missing", paths.stub(folder), fix, blocks=True)
    needed = {
        "solution is": paths.solution(folder),
        "lesson is": paths.lesson(folder),
        "page of hints is": paths.hints(folder),
        "experiment is": paths.experiment(folder),
        "file of cards for make review is": paths.review(folder),
        "text on what to notice in the solution is": paths.notice(folder),
        "file of known mistakes is": paths.mistakes(folder),
        "file of documented checks is": paths.documented_checks(folder),
        "file of hidden checks is": paths.hidden_checks(folder),
    }
    blocking = [path for path in needed.values() if path.suffix == ".py" and path != paths.experiment(folder)]
    if not exercise.path.warm_up:
        needed |= {
            "interactive figure is": paths.figure_script(folder),
            "numbers of the figure are": paths.figure_data(folder),
            "cases of the figure are": paths.figure_cases(folder),
        }
    for noun, path in needed.items():
        if not path.exists():
            yield Problem(f"the {noun} missing", path, "Write it as another exercise has it", blocks=path in blocking)
    styles = len(paths.styles(folder))
    if styles < MIN_STYLES:
        reason = f"{styles} right answers in other styles are here, and {MIN_STYLES} are the least"
        fix = "Write each as another person would, one file an answer"
        yield Problem(reason, paths.styles_folder(folder), fix)


def _unreadable(folder: str) -> Iterator[Problem]:
    """What is written in Python must be Python. Without the solution and the checks nothing can be run."""
    needed = (paths.solution(folder), *paths.checks(folder))
    for path in (*needed, paths.experiment(folder), paths.figure_cases(folder)):
        try:
            ast.parse(path.read_text("utf-8") if path.exists() else "")
        except SyntaxError as error:
            yield Problem(f"it cannot be read: {error.msg}", path, "Fix it", error.lineno or 0, blocks=path in needed)


def _read(path: Path) -> ast.Module | None:
    """What a script says; None where it is absent or no Python, which is a problem of its own."""
    try:
        return ast.parse(path.read_text("utf-8"))
    except (OSError, SyntaxError):
        return None


def _todos(folder: str) -> Iterator[Problem]:
    """The stub is left out, since its comments are those of the solution."""
    lesson = (paths.lesson(folder), paths.hints(folder), paths.experiment(folder), paths.review(folder))
    of_figure = (paths.figure_script(folder), paths.figure_cases(folder))
    of_solution = (paths.solution(folder), paths.notice(folder), paths.mistakes(folder), *paths.styles(folder))
    for path in (*lesson, *of_figure, *of_solution, *paths.check_files(folder)):
        if not path.exists():
            continue
        lines = [number for number, line in enumerate(path.read_text("utf-8").split("\n"), 1) if TODO in line]
        if lines:
            other_lines = f" (lines {', '.join(map(str, lines))})" if len(lines) > 1 else ""
            is_run = path.suffix not in (".md", ".js") and path not in lesson
            blocks = is_run or path == paths.mistakes(folder)
            fix = "Write what belongs there, or take it out"
            yield Problem(f"a TODO is left{other_lines}", path, fix, lines[0], blocks=blocks)


def _stub(folder: str) -> Iterator[Problem]:
    """The stub and the solution may differ in bodies alone."""
    path = paths.stub(folder)
    line, difference = stubs.first_difference(path.read_text("utf-8"), paths.solution(folder).read_text("utf-8"))
    if difference:
        reason = f"the stub differs from the solution in more than bodies: {difference}"
        yield Problem(reason, path, f"Make it again: make verify EX={folder[:2]} WRITE=1", line)


def _checks(exercise: Exercise) -> Iterator[Problem]:
    """Every check must have points, and every line of [points] a check."""
    places, toml = check_places(exercise.folder), paths.exercise_toml(exercise.folder)
    for name, (path, line) in places.items():
        if name not in exercise.points:
            fix = f"Write `{name} = 1` under [points] in {paths.shown(toml)}"
            yield Problem(f"the check {name} has no points", path, fix, line, blocks=True)
    for name in exercise.points:
        if name not in places:
            fix = f"Write the check `test_{name}`, or take its points out"
            line = line_of(toml, rf"^\s*{re.escape(name)}\s*=")
            yield Problem(f"{name} has points, and there is no such check", toml, fix, line, blocks=True)


def _numbers(exercise: Exercise) -> Iterator[Problem]:
    """The documented numbers must be readable and belong to checks."""
    toml, fix = paths.exercise_toml(exercise.folder), "Fix it"
    try:
        numbers = documented.numbers(exercise.folder)
    except (ValueError, TypeError) as error:
        yield Problem(f"the documented numbers cannot be read: {error!r}", toml, fix, blocks=True)
        return
    for number in numbers:
        line = line_of(toml, rf"^id\s*=\s*['\"]{re.escape(number.id)}['\"]")
        try:
            number.data  # noqa: B018
        except ValueError as error:
            yield Problem(str(error), toml, fix, line, blocks=True)
        if number.check not in exercise.points:
            reason = f"the number {number.id} belongs to the check {number.check}, which has no points"
            yield Problem(reason, toml, "Name the check that looks at it", line, blocks=True)


def _notice(folder: str) -> Iterator[Problem]:
    """The notice must say what to notice in the solution, and one way to dig deeper."""
    path = paths.notice(folder)
    if not path.exists():
        return
    first, *others = [" ".join(paragraph.split()) for paragraph in path.read_text("utf-8").strip().split("\n\n")]
    deeper = sum(paragraph.startswith(DEEPER) for paragraph in others)
    if not first or first.startswith(DEEPER) or deeper != 1:
        fix = f"Write two or three sentences on the solution, then a paragraph `{DEEPER} …`"
        yield Problem("it does not say what to notice and how to dig deeper", path, fix, 1)
