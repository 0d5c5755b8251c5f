"""The pages of the site, built with mkdocs-material: lessons, cards, bars, formulas as MathML, and the tables of all
documented numbers and of which checks fail which mistake.

Only what is listed here is shown: no solutions. A test measures the numbers of the bars again
(tests/lessons/test_experiments.py), so they show what was measured.
"""

import ast
import html
import itertools
import logging
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader import catalog
from grader.catalog import documented, errors, mistakes, paths, project
from grader.catalog.documented import DocumentedNumber
from grader.catalog.errors import WrongUse
from grader.catalog.mistakes import NotPassed
from grader.desk import experiment, hints, lesson
from grader.judge import figure

FORMULA = re.compile(
    r'<(span|div) class="arithmatex">\\(?P<open>[(\[])(?P<latex>.*?)\\[)\]]</\1>(?P<stop>[.,;:)]*)', re.S
)
TEXT = re.compile(r"\\text\{[^}]*\}")  # here the converter does not understand "\_"
HEAD = """# All lessons

By path, in the order in which they build on each other. Your own progress: `make report`. The times are
[estimates by one rule](self-study.md#how-long-a-lesson-takes).
"""
FACT = re.compile(r"^- \*\*(?P<name>[^*]+)\*\* (?P<text>.*(?:\n  .*)*)", re.M)  # of a lesson's head
ABLE, TIME, DIFFICULTY = "You will be able to", "Time", "Difficulty"
COLUMNS = ("lesson", "you will be able to", "time", "difficulty", "points")
SECTION = re.compile(r'<h2 id="experiment".*?(?=<h2 |\Z)', re.S)
BARS_TABLE = re.compile(r"<table>.*?</table>", re.S)
ROW = re.compile(r"<tr>(.*?)</tr>", re.S)
CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.S)
TAG = re.compile(r"<[^>]+>")
BAR = (
    '<td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
    '<rect{kind} width="{width:.1f}" height="10"></rect></svg></td>'
)
SHARED = "assets/figures"  # the folder of the figures' scripts, and of what several of them need
HOME, OVERVIEW = "index.md", "overview.md"
BOOST = "---\nsearch:\n  boost: {}\n---\n\n"
BEHIND = BOOST.format(0.2)  # the search lists such a page after the lessons
LEFT_OUT = ("README.md", "AGENTS.md")  # the start page, and what assistants read
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"  # a page of authors, which would be most of the index
AUTHORS = ("authors.md", "architecture.md", "contributing.md", "code_of_conduct.md", "changelog.md")
IMAGE = re.compile(r"!\[[^\]]*\]\((?!https?:)([^)\s]+)\)")
SMALL_IMAGE = re.compile(r'<img src="(?!https?:)([^"]+)"')
FAILED, NOT_CHECKED = "✗", "–"


def with_mathml(content: str, page_name: str) -> str:
    """The HTML with MathML in place of every formula that arithmatex marked. page_name: the page, for messages.

    Raises PluginError, which mkdocs shows, where a formula cannot be read.
    """
    from latex2mathml.converter import convert
    from mkdocs.exceptions import PluginError

    def converted(match: re.Match[str]) -> str:
        """One formula as MathML."""
        latex, is_block = html.unescape(match["latex"]).strip(), match["open"] == "["
        try:
            formula = convert(
                TEXT.sub(lambda text: text[0].replace("\\_", "_"), latex), display="block" if is_block else "inline"
            )
        except Exception as error:  # it raises many kinds
            raise PluginError(f"{page_name}: the formula {latex!r} cannot be read ({type(error).__name__})") from None
        if "\\" in formula:
            raise PluginError(f"{page_name}: the formula {latex!r} uses a command that is not known")
        formula = formula.replace("<math ", f'<math aria-label="{html.escape(latex)}" ', 1)
        if is_block:
            return f'<div class="formula" tabindex="0">{formula}</div>{match["stop"]}'
        return f'<span class="unbroken">{formula}{match["stop"]}</span>'

    return FORMULA.sub(converted, content)


def cards_page(places: Mapping[str, str]) -> str:
    """The page in Markdown. places: folder → the page of its lesson."""
    parts = [HEAD]
    for path, exercises in itertools.groupby(catalog.by_path(), key=lambda exercise: exercise.path):
        rows = [card_row(exercise, places[exercise.folder]) for exercise in exercises]
        after = f"After it you can {path.after}.\n\n" if path.after else ""
        parts.append(f"\n## {path_title(path)}\n\n{after}{_line(COLUMNS)}{_line(['---'] * len(COLUMNS))}")
        parts += map(_line, rows)
    return "".join(parts)


def path_title(path: catalog.LearningPath) -> str:
    """The name of a path as a heading."""
    return path.name[:1].upper() + path.name[1:]


def card_row(exercise: catalog.Exercise, place: str) -> list[str]:
    """The cells of one exercise."""
    lesson = paths.lesson(exercise.folder)
    text = lesson.read_text("utf-8") if lesson.exists() else ""
    facts = {fact["name"]: " ".join(fact["text"].split()) for fact in FACT.finditer(text)}
    name = f"[{exercise.folder[:2]} {exercise.title}]({place})" if text else exercise.title
    time = facts.get(TIME, "").removeprefix("about ").partition(" (")[0]
    return [name, facts.get(ABLE, ""), time, facts.get(DIFFICULTY, ""), f"{exercise.max_points:g}"]


def cards(content: str) -> str:
    """The HTML of the page with each cell's column told in it, so that a phone can show a row as a card."""
    names: Iterator[str] = iter(())

    def named(tag: re.Match[str]) -> str:
        """A tag of a row or of a cell."""
        nonlocal names
        if tag[0] == "<tr>":
            names = iter(COLUMNS)
            return tag[0]
        return f'<td data-column="{html.escape(next(names, ""))}">'

    return (
        re.sub(r"<tr>|<td>", named, content)
        .replace("<table>", '<div class="cards"><table>')
        .replace("</table>", "</table></div>")
    )


def with_bars(content: str, folder: str) -> str:
    """The HTML of a lesson, with a bar in each row of the table of its experiment. Without a script it stays as it is.

    Raises ValueError where the table lacks the column that the script names.
    """
    section = SECTION.search(content)
    table = BARS_TABLE.search(content, section.start(), section.end()) if section else None
    plot = column(folder)
    if table is None or not plot:
        return content
    head, *rows = [[_text(cell) for cell in CELL.findall(row)] for row in ROW.findall(table[0])]
    if plot not in head:
        raise ValueError(f"the table of the experiment of {folder} has no column {plot!r}: {head}")
    values = [_number(row[head.index(plot)]) for row in rows]
    hollow = " (hollow: below 0)" if any(_is_negative(value) for value in values) else ""
    ends = iter([f'<th class="bar">{html.escape(plot)}, drawn{hollow}</th>', *_bars(values)])
    drawn = table[0].replace("<table>", f'<table class="experiment" style="--columns: {len(head)}">')
    drawn = re.sub("</tr>", lambda end: next(ends) + end[0], drawn)
    return content[: table.start()] + f'<div class="experiment" tabindex="0">{drawn}</div>' + content[table.end() :]


def column(folder: str) -> str:
    """The column that the script of an exercise names as the one to draw; "" where there is no script."""
    script = paths.experiment(folder)
    if not script.exists():
        return ""
    for node in ast.parse(script.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["PLOT"]:
            return str(ast.literal_eval(node.value))
    return ""


@dataclass(frozen=True)
class Site:
    """Pages and images by their path in the site."""

    pages: dict[str, str]
    images: dict[str, Path]


def site() -> Site:
    """The whole site, from the files as they are."""
    sources = {HOME: paths.at_root("README.md")}
    sources |= {page_of(exercise.folder): paths.lesson(exercise.folder) for exercise in catalog.exercises()}
    papers = {f"{path.stem}.md": path for path in sorted(paths.DOCS.glob("*.md")) if path != paths.LEARNERS_README}
    papers |= {f"{path.stem.lower()}.md": path for path in sorted(paths.ROOT.glob("*.md")) if path.name not in LEFT_OUT}
    sources |= papers
    sources = {page: path for page, path in sources.items() if path.exists()}
    places = {path.resolve(): page for page, path in sources.items()}
    pages = {page: link(path.read_text("utf-8"), path, page, places) for page, path in sources.items()}
    generated = generated_pages()
    pages |= {page: UNSEARCHED + text for page, text in generated.items()}
    pages |= {page: (UNSEARCHED if page in AUTHORS else BEHIND) + pages[page] for page in papers if page in pages}
    pages[OVERVIEW] = cards_page({exercise.folder: page_of(exercise.folder) for exercise in catalog.exercises()})
    repository = project.address()
    for number, exercise in enumerate(catalog.exercises()):
        if page_of(exercise.folder) in pages:
            pages[page_of(exercise.folder)] = with_badges(pages[page_of(exercise.folder)], repository, exercise.folder)
        if page_of(exercise.folder) in pages:  # a word is explained where it comes first
            pages[page_of(exercise.folder)] = BOOST.format(round(3 - number / 20, 2)) + pages[page_of(exercise.folder)]
        if page_of(exercise.folder) in pages and (text := hints_page(exercise)):
            pages[hints_of(exercise.folder)] = text
            pages[page_of(exercise.folder)] += "\n\n[Hints, one at a time](hints.md)\n"
    images = {
        str(PurePosixPath(page).parent / target): path.parent / target
        for page, path in sources.items()
        for target in [one for kind in (IMAGE, SMALL_IMAGE) for one in kind.findall(path.read_text("utf-8"))]
        if (path.parent / target).is_file()
    }
    return Site(pages, images)


def with_badges(text: str, repository: str, folder: str) -> str:
    """The lesson with links below its title that open it elsewhere, where the site is of a repository on GitHub."""
    if not repository.startswith(project.GITHUB):
        return text
    title, _, rest = text.partition("\n")
    links = (
        ("Open in Codespaces", project.codespace(repository)),
        ("Open in Colab", project.colab(repository, folder)),
    )
    badges = " ".join(f'<a class="open-in" href="{html.escape(address)}">{words}</a>' for words, address in links)
    return f"{title}\n\n{badges}\n{rest}"


def by_path() -> list[dict[str, list[dict[str, str]]]]:
    """The lessons by path, as the navigation of mkdocs takes them."""
    entries: dict[str, list[dict[str, str]]] = {}
    for exercise in catalog.by_path():
        if paths.lesson(exercise.folder).exists():
            entry = {f"{exercise.folder[:2]} {exercise.title}": page_of(exercise.folder)}
            entries.setdefault(path_title(exercise.path), []).append(entry)
    return [{path: listed} for path, listed in entries.items()]


def page_of(folder: str) -> str:
    """The place of a lesson in the site."""
    return f"lessons/{folder}/index.md"


def hints_of(folder: str) -> str:
    """The place of the hints of an exercise in the site."""
    return f"lessons/{folder}/hints.md"


def figure_of(folder: str) -> str:
    """The place of the script of a figure in the site."""
    return f"{SHARED}/{folder}.js"


def with_figure() -> list[str]:
    """The exercises that have an interactive figure."""
    return [exercise.folder for exercise in catalog.exercises() if figure.has_figure(exercise.folder)]


def hints_page(exercise: catalog.Exercise) -> str:
    """A page with every hint, each hidden until it is opened. The search leaves it out. "" where there are no hints."""
    all_hints = hints.all_hints(exercise.folder)
    if not all_hints:
        return ""
    lines = ["---", "search:", "  exclude: true", "---", "", f"# Hints for {exercise.folder[:2]} {exercise.title}", ""]
    lines += ["Try first, then open one.", "", "[Back to the lesson](index.md)", ""]
    for hint in all_hints:
        if hint.stage == 1:
            lines += [f"## Task {hint.task}", ""]
        lines += [f'??? tip "Hint {hint.stage} of {hint.of}"', "", f"    {hint.text}", ""]
    return "\n".join(lines)


def link(text: str, path: Path, page: str, places: dict[Path, str]) -> str:
    """The text with links to the pages of the site. A link to any other file becomes its name.

    path: the file of the text; page: its place in the site; places: file → its page.
    """
    text = lesson.without_still(text)
    text = text.replace("<details>", '<details markdown="1">')  # what is folded is Markdown too
    text = IMAGE.sub(lambda image: image[0] if (path.parent / image[1]).is_file() else "", text)
    return lesson.fit_links(text, path, page, places)


def build(out: Path) -> int:
    """Write the site to a folder, as a whole or not at all. Returns the number of its pages.

    Raises WrongUse where mkdocs is not installed, a page has an error or the folder cannot be written.
    """
    try:
        import latex2mathml  # noqa: F401
        import material  # noqa: F401
        from mkdocs.commands.build import build as mkdocs_build
        from mkdocs.config import load_config
        from mkdocs.exceptions import MkDocsException
    except ImportError:
        raise errors.missing_extra("The site needs mkdocs-material and latex2mathml", "docs") from None
    if out.exists() and not (out / "search").is_dir() and any(out.iterdir()):
        raise WrongUse(f"{out} is not empty and no site of ours. Name another folder: OUTPUT=site")
    warnings = _Warnings()
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "site"
        try:
            with warnings:
                config = load_config(str(paths.at_root("mkdocs.yml")), site_dir=str(built))
                config.plugins.on_startup(command="build", dirty=False)
                mkdocs_build(config)
                config.plugins.on_shutdown()
        except MkDocsException as error:
            raise WrongUse("\n".join(["The site cannot be built.", *warnings.texts, str(error)])) from None
        try:
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(built, out)
        except OSError as error:
            raise WrongUse(f"{out} cannot be written: {error.strerror or error}") from None
    return len({*out.rglob("*.html")} - {out / "404.html"})


class _Warnings(logging.Handler):
    """Keeps the warnings of mkdocs, which only counts them in strict mode."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []
        self.logger = logging.getLogger("mkdocs")

    def __enter__(self) -> None:
        self.logger.addHandler(self)
        self.logger.propagate = False

    def __exit__(self, *_: object) -> None:
        self.logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning."""
        self.texts.append(record.getMessage())


def generated_pages() -> dict[str, str]:
    """The generated pages of the site: name → Markdown. A learner's bundle has no page about mistakes."""
    numbers = documented.all_numbers()
    texts = {
        "documented-numbers.md": "# Documented numbers\n\n"
        f"{len(numbers)} numbers, tensors and shapes, each graded.\n\n{documented_table(numbers)}"
    }
    if paths.SOLUTIONS.is_dir():
        heading = (
            "# Which checks fail which mistake\n\n"
            f"{FAILED}: the check fails. {NOT_CHECKED}: it is not tried, since one that it builds on failed.\n"
            "The sentence is what a learner reads.\n"
        )
        texts["failed-checks.md"] = heading + "".join(map(mistakes_table, catalog.exercises()))
    return texts


def mistakes_table(exercise: catalog.Exercise) -> str:
    """A table with a row for each check and a column for each mistake, and below it the mistakes by number."""
    columns, by_name = mistakes.mistakes(exercise.folder), mistakes.failed_checks(exercise.folder)
    not_passed = [by_name.get(mistake.name, NotPassed(())) for mistake in columns]
    numbers = [str(number) for number in range(1, len(columns) + 1)]
    lines = [f"\n## {exercise.folder}\n", f"| check | {' | '.join(numbers)} |", "|---|" + ":-:|" * len(columns)]
    for check in exercise.points:
        marks = [_mark(check, of_mistake) for of_mistake in not_passed]
        lines.append(f"| {check} | " + " | ".join(marks) + " |")
    shows = mistakes.misconceptions_of_mistakes(exercise.folder)
    titles = [f" *{shows[mistake.name].title}*" if mistake.name in shows else "" for mistake in columns]
    lines += ["", *(f"{i}. `{m.name}`: {m.sentence}{title}" for i, (m, title) in enumerate(zip(columns, titles), 1))]
    return "\n".join(lines) + "\n"


def documented_table(numbers: Sequence[DocumentedNumber]) -> str:
    """The documented numbers as a Markdown table."""
    lines = ["| exercise | number | document | place | graded by |", "|---|---|---|---|---|"]
    for number in numbers:
        cells = (number.exercise, number.id, number.source, number.place, number.check)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _bars(values: Sequence[experiment.Cell]) -> list[str]:
    """A cell for each value."""
    signs = [' class="negative"' if _is_negative(value) else "" for value in values]
    return [BAR.format(kind=sign, width=100 * share) for sign, share in zip(signs, experiment.shares(values))]


def _is_negative(value: experiment.Cell) -> bool:
    return not isinstance(value, str) and value < 0


def _number(text: str) -> experiment.Cell:
    try:
        return float(text.replace(",", "").replace("−", "-"))
    except ValueError:
        return text


def _text(cell: str) -> str:
    return html.unescape(TAG.sub("", cell)).strip()


def _mark(check: str, of_mistake: NotPassed) -> str:
    """The cell of a check in the column of a mistake."""
    if check in of_mistake.failed:
        return FAILED
    return NOT_CHECKED if check in of_mistake.not_checked else " "
