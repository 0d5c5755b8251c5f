"""Joins a figure's module with the modules that it imports into one text, for a notebook or for a page.

Every import is a line of its own, `import { a, b } from "./maths.js";`, of a module beside this one. Names are
therefore the same in all modules, and no two modules may define the same one.
"""

import re

from grader.catalog import paths
from grader.reports import palette

IMPORT = re.compile(r'^import \{[^}]*\} from "(?:[^"]*/)?(?P<name>\w+\.js)";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:const|function) )", re.M)
DEFAULT = "export default {"


def widget(folder: str) -> str:
    """The figure as one ES module, the form that anywidget takes; with the button that asks for the learner's own."""
    return f"{_joined(folder, 'mine.js')}\nexport default withMine(figure);\n"


def script(folder: str) -> str:
    """The figure as one classic script, which also runs in a page that is opened from a disk."""
    return f"(() => {{\n{_joined(folder, 'host.js')}\nhost(figure, document.currentScript);\n}})();\n"


def live(folder: str) -> str:
    """The figure as a classic script for a page that `make figure` serves: with the learner's own matrices below it."""
    return f"(() => {{\n{_joined(folder, 'live.js')}\nlive(figure, document.currentScript);\n}})();\n"


def style() -> str:
    """The style of all figures, with the colours."""
    return palette.within(".kata-figure") + paths.figure_module("figures.css").read_text("utf-8")


def _joined(folder: str, last: str) -> str:
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
