"""The hook that mkdocs.yml names, which adds the pages from outside docs/, their formulas and figures.

Only what is listed here is shown: no solutions.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import paths
from grader.desk import formulas, hints, lesson
from grader.integrations import figures
from grader.judge import figure

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

HOME = "index.md"
SCRIPTS = "assets/figures"  # the folder of the figures' scripts
LEFT_OUT = ("README.md", "AGENTS.md")  # the start page, and what assistants read
HIDDEN = "---\nsearch:\n  exclude: true\n---\n\n"  # the search shows no hint to who did not ask for one
IMAGE = re.compile(r"!\[[^\]]*\]\((?!https?:)([^)\s]+)\)|<img src=\"(?!https?:)([^\"]+)\"")
TAKEN: dict[str, list[tuple[str, str]]] = {}  # the formulas of a page, by its place in the site


def on_config(config: MkDocsConfig) -> None:
    """Add the paths with their problems to the learner's section of the navigation, before the help that ends it."""
    assert config.nav, "mkdocs.yml has one"
    entries: dict[str, list[dict[str, str]]] = {}
    for exercise in catalog.exercises():
        name = exercise.path.name[:1].upper() + exercise.path.name[1:]
        listed = entries.setdefault(name, [])
        listed.append({f"{exercise.folder[:2]} {exercise.title}": page_of(exercise.folder)})
        if paths.problems(exercise.folder).exists():
            listed.append({"Problems": page_of(exercise.folder, "problems")})
    learn = next(iter(config.nav[0].values()))
    learn[-1:-1] = [{path: pages} for path, pages in entries.items()]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add every page with links that fit the site, what the pages show, and the site's own style and script."""
    from mkdocs.structure.files import File

    def put(name: str, **source: str) -> None:
        """Add a file, in place of one with the same path."""
        if earlier := files.get_file_from_path(name):
            files.remove(earlier)
        files.append(File.generated(config, name, **source))

    sources = _sources()
    places = {path.resolve(): page for page, path in sources.items()}
    for page, path in sources.items():
        text = path.read_text("utf-8")
        put(page, content=markdown_of(text, path, page, places))
        for target in {one or other for one, other in IMAGE.findall(text)}:
            if (path.parent / target).is_file():
                put(str(PurePosixPath(page).parent / target), abs_src_path=str(path.parent / target))
    for exercise in catalog.exercises():
        put(page_of(exercise.folder, "hints"), content=hints_page(exercise))
    for folder in _with_figure():
        put(f"{SCRIPTS}/{folder}.js", content=figures.script(folder))
    for name in ("site.css", "roots.js"):
        put(f"assets/{name}", abs_src_path=str(paths.module("integrations/site") / name))
    put("assets/figures.css", content=figures.style())
    put("assets/formulas.css", content=formulas.style())
    if font := formulas.font():
        put("assets/math.ttf", abs_src_path=str(font))


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Take the formulas of a lesson out while its Markdown is read."""
    if page.file.src_uri.startswith("lessons/"):
        markdown, TAKEN[page.file.src_uri] = formulas.take_out(markdown)
    return markdown


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Put them back as MathML. Raises PluginError, which mkdocs shows, if one cannot be read."""
    from math_core import LatexError
    from mkdocs.exceptions import PluginError

    try:
        return formulas.put_back(html, TAKEN.get(page.file.src_uri, []))
    except LatexError as error:
        raise PluginError(f"{page.file.src_uri}: a formula cannot be read: {error}") from None


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Place the figure of a lesson. The search has read the page before. output: the whole page."""
    for folder in _with_figure():
        if page.file.src_uri == page_of(folder):
            return figures.place_figure(output, folder, f"../../{SCRIPTS}/{folder}.js")
    return output


def page_of(folder: str, name: str = "index") -> str:
    """The place in the site of a lesson; or of its hints or problems, by that name."""
    return f"lessons/{folder}/{name}.md"


def hints_page(exercise: catalog.Exercise) -> str:
    """A page with every hint, each hidden until it is opened."""
    lines = [f"{HIDDEN}# Hints for {exercise.folder[:2]} {exercise.title}", "[Back to the lesson](index.md)"]
    for hint in hints.all_hints(exercise.folder):
        if hint.stage == 1:
            lines.append(f"## Task {hint.task}")
        lines.append(f'??? tip "Hint {hint.stage} of {hint.of}"\n\n    {hint.text}')
    return "\n\n".join(lines)


def markdown_of(text: str, path: Path, page: str, places: dict[Path, str]) -> str:
    """The text as a page of the site. path: its file; page: its place in the site; places: file → its page."""
    place = f"{figures.PLACE}\n\n" if figure.has_figure(path.parent.name) else ""
    text = lesson.for_page(text, place, lesson.FRAME if page.startswith("lessons/") else {}, has_hints=True)
    text = figures.fold_answers(text).replace("<details>", '<details markdown="1">')  # what is folded is Markdown too
    return lesson.fit_links(text, path, page, {**places, path.parent / "hints.md": page_of(path.parent.name, "hints")})


def _sources() -> dict[str, Path]:
    """The file of each page, by its place in the site."""
    folders = [exercise.folder for exercise in catalog.exercises()]
    sources = {HOME: paths.at_root("README.md")} | {page_of(folder): paths.lesson(folder) for folder in folders}
    with_problems = (folder for folder in folders if paths.problems(folder).exists())
    sources |= {page_of(folder, "problems"): paths.problems(folder) for folder in with_problems}
    sources |= {f"{path.stem}.md": path for path in sorted(paths.DOCS.glob("*.md"))}
    papers = sorted(path for path in paths.PROJECT.glob("*.md") if path.name not in LEFT_OUT)
    return sources | {f"{path.stem.lower()}.md": path for path in papers}


def _with_figure() -> list[str]:
    return [exercise.folder for exercise in catalog.exercises() if figure.has_figure(exercise.folder)]
