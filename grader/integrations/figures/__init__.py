"""The figures to play with, one an exercise: the same module on the site and in a notebook.

`exercises/NN_slug/figure.js` draws, `grader/checks/NN_slug/figure.py` gives the numbers. The modules beside this one
are shared by all figures, and joined with it into one text. Each import there is a line of its own, of one of them, as
`import { a, b } from "./maths.js";`. Names are therefore the same in all modules, and no two modules may define one
twice. Neither making nor reading a figure needs a network or Node.
"""

import base64
import re
from typing import Any

from grader.catalog import paths
from grader.judge import figure
from grader.reports import templating
from grader.reports.templating import render

IMPORT = re.compile(r'^import \{[^}]*\} from "(?:[^"]*/)?(?P<name>\w+\.js)";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:const|function) )", re.M)
DEFAULT = "export default {"
TEMPLATE = "integrations/figures/templates/figure.html"
PLACE = "\ue004"  # stands for the figure in Markdown
ANSWERS = re.compile(r"^</details>\n\n(<details>\n<summary>The three answers</summary>\n.*?^</details>\n)", re.M | re.S)


def fold_answers(markdown: str) -> str:
    """A lesson whose three answers are folded within its questions: one box above the figure instead of two."""
    return ANSWERS.sub(r"\1\n</details>\n", markdown)


def widget(folder: str) -> str:
    """The figure as one ES module, the form that anywidget takes; with the button that asks for the learner's own."""
    return f"{_join(folder, 'mine.js')}\nexport default withMine(figure);\n"


def script(folder: str, has_own: bool = False) -> str:
    """The figure as one classic script, which also runs in a page that is opened from a disk.

    has_own: the page holds the learner's own matrices, which are drawn below it.
    """
    name = "own" if has_own else "host"
    return f"(() => {{\n{_join(folder, f'{name}.js')}\n{name}(figure, document.currentScript);\n}})();\n"


def style() -> str:
    """The style of all figures, with the colours."""
    return templating.colours_within(".kata-figure") + paths.figure_module("figures.css").read_text("utf-8")


def place_figure(page: str, folder: str, script: str = "", own: dict[str, Any] | None = None) -> str:
    """The page with the figure where its Markdown had the paragraph PLACE.

    script: the address of its script; "" where the page holds it. own: the learner's matrices.
    """
    title = figure.figure(folder).title
    html = render(TEMPLATE, title=title, still=still(folder), data=figure.data(folder), script=script, own=own)
    return page.replace(f"<p>{PLACE}</p>", html)


def still(folder: str) -> str:
    """The still picture as an address that holds it, for a page that loads nothing; "" before it was taken."""
    path = paths.still(folder)
    if not path.exists():
        return ""
    return f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}"


def _join(folder: str, last: str) -> str:
    """The modules in the order in which they need each other, and the figure as `figure`. last: the module after it."""
    source = paths.figure_script(folder).read_text("utf-8")
    names: list[str] = []
    for text in (source, paths.figure_module(last).read_text("utf-8")):
        for name in IMPORT.findall(text):
            _add(name, names)
    texts = [_bare(paths.figure_module(name).read_text("utf-8")) for name in (*names, last)]
    return "\n".join([*texts, _bare(source).replace(DEFAULT, "const figure = {", 1)])


def _add(name: str, names: list[str]) -> None:
    """Add a module after those that it imports, each once."""
    for needed in IMPORT.findall(paths.figure_module(name).read_text("utf-8")):
        if needed not in names:
            _add(needed, names)
    if name not in names:
        names.append(name)


def _bare(source: str) -> str:
    """A module without its imports and the word export."""
    return EXPORT.sub("", IMPORT.sub("", source))
