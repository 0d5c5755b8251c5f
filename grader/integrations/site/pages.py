"""The pages of the site as Markdown, and the order of the lessons. Only what is listed here is shown: no solutions."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader import catalog
from grader.authoring import tables
from grader.catalog import paths
from grader.desk import hints
from grader.integrations import links
from grader.integrations.site import lesson_cards
from grader.judge import figure

HOME, OVERVIEW = "index.md", "overview.md"
BEHIND = "---\nsearch:\n  boost: 0.2\n---\n\n"  # the search lists such a page after the lessons
IMAGE = re.compile(r"!\[[^\]\n]*\]\((?!https?:)([^)\s]+)\)")


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
    papers |= {f"{path.stem.lower()}.md": path for path in sorted(paths.ROOT.glob("*.md")) if path.name != "README.md"}
    sources |= papers
    sources = {page: path for page, path in sources.items() if path.exists()}
    places = {path.resolve(): page for page, path in sources.items()}
    pages = {page: linked(path.read_text("utf-8"), path, page, places) for page, path in sources.items()}
    generated = tables.pages()
    pages |= {page: BEHIND + text for page, text in generated.items()}
    pages |= {page: BEHIND + pages[page] for page in papers if page in pages}
    pages[OVERVIEW] = lesson_cards.page({exercise.folder: page_of(exercise.folder) for exercise in catalog.exercises()})
    for exercise in catalog.exercises():
        if page_of(exercise.folder) in pages and (text := hints_page(exercise)):
            pages[hints_of(exercise.folder)] = text
            pages[page_of(exercise.folder)] += "\n\n[Hints, one at a time](hints.md)\n"
    images = {
        str(PurePosixPath(page).parent / target): path.parent / target
        for page, path in sources.items()
        for target in IMAGE.findall(path.read_text("utf-8"))
        if (path.parent / target).is_file()
    }
    return Site(pages, images)


def tracks() -> list[dict[str, list[dict[str, str]]]]:
    """The lessons in the order of progress, by track, as the navigation of mkdocs takes them."""
    by_track: dict[str, list[dict[str, str]]] = {}
    for exercise in catalog.exercises():
        if paths.lesson(exercise.folder).exists():
            entry = {f"{exercise.folder[:2]} {exercise.title}": page_of(exercise.folder)}
            by_track.setdefault(lesson_cards.TRACKS.get(exercise.track, exercise.track), []).append(entry)
    return [{track: entries} for track, entries in by_track.items()]


def page_of(folder: str) -> str:
    """The place of a lesson in the site."""
    return f"lessons/{folder}/index.md"


def hints_of(folder: str) -> str:
    """The place of the hints of an exercise in the site."""
    return f"lessons/{folder}/hints.md"


def figure_of(folder: str) -> str:
    """The place of the script of a figure in the site."""
    return f"assets/figures/{folder}.js"


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


def linked(text: str, path: Path, page: str, places: dict[Path, str]) -> str:
    """The text with links to the pages of the site. A link to any other file becomes its name.

    path: the file of the text; page: its place in the site; places: file → its page.
    """
    text = text.replace("<details>", '<details markdown="1">')  # what is folded is Markdown too
    text = IMAGE.sub(lambda image: image[0] if (path.parent / image[1]).is_file() else "", text)
    return links.fitted(text, path, page, places)
