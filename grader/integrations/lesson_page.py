"""One lesson with its interactive figure as a page of its own.

python -m grader.integrations.lesson_page 03_context_vectors [--open]
"""

import sys
import webbrowser
from pathlib import Path

from grader import catalog
from grader.catalog import paths
from grader.desk import lesson
from grader.integrations.figures import joining, placing
from grader.judge import figure
from grader.records import safe_files
from grader.reports import html

HERE = 'document.querySelector("#figure > script")'  # the script is at the end of the page, the figure is not


def page(folder: str) -> str:
    """The whole page, which loads nothing from anywhere."""
    path, title = paths.lesson(folder), f"{folder[:2]} {catalog.find(folder).title}"
    text = lesson.without_still(path.read_text("utf-8"))
    if not figure.has_figure(folder):
        return html.lesson_page(text, title, path.parent)
    script = joining.script(folder).replace("document.currentScript", HERE)
    return placing.placed(html.lesson_page(text, title, path.parent, script=script, style=joining.style()), folder)


def write(folder: str) -> Path:
    """The path of the page, which is written unless the site has it."""
    target = lesson.page_file(folder)
    if target == paths.lesson_page(folder):
        target.parent.mkdir(exist_ok=True)
        safe_files.write_whole(target, page(folder))
    return target


def main() -> None:
    """Write the page of the exercise that is named, and open it if asked to."""
    folder, *options = sys.argv[1:]
    path = write(folder)
    if options:
        webbrowser.open(path.as_uri())


if __name__ == "__main__":
    main()
