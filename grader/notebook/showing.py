"""A verdict and pictures as a notebook shows them: HTML with its own small style, and the same as text."""

from collections.abc import Sequence

from grader.catalog import Exercise
from grader.pictures import Picture, svg
from grader.pictures.terminal import render
from grader.report import html, terminal
from grader.results import ExerciseResult

# JupyterLab, VS Code and the browser say in different ways that they are dark.
DARK = """--passed: #7ddf9b; --failed: #ff9a90; --likely: #f2c073; --line: #5b606a;"""
STYLE = f"""<style>
.kata {{ --passed: #0b6634; --failed: #ab1d17; --likely: #7a4a00; --line: #c4c6cc; overflow-wrap: anywhere; }}
[data-jp-theme-light="false"] .kata, .vscode-dark .kata, html[theme="dark"] .kata {{ {DARK} }}
.kata ul {{ list-style: none; padding: 0; margin: .5em 0; }}
.kata li {{ padding: .25em 0; border-top: 1px solid var(--line); }}
.kata .outcome {{ font-weight: 600; white-space: nowrap; }}
.kata .passed {{ color: var(--passed); }} .kata .failed, .kata .error {{ color: var(--failed); }}
.kata .likely {{ color: var(--likely); }}
.kata .message, .kata pre {{ white-space: pre-wrap; font-family: monospace; margin: .25em 0 .25em 1.5em; }}
.kata .panels {{ display: grid; gap: 1em; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15em), 22em)); }}
.kata svg {{ width: 100%; height: auto; }}
.kata figure {{ margin: 1em 0; }}
.kata .scroll {{ overflow-x: auto; }}
</style>"""


def verdict(result: ExerciseResult, pictures: Sequence[Picture]) -> dict:
    """{"text", "html"} of a verdict with its pictures."""
    plain = [" " * left + line.plain for left, line in terminal.render(result)]
    return {"text": "\n".join(plain), "html": _whole(html.verdict(result, "full", pictures, heading=3))}


def pictures(exercise: Exercise, taken: Sequence[Picture]) -> dict:
    """{"text", "html"} of pictures alone."""
    if not taken:
        return {"text": f"{exercise.folder} has no picture."}
    plain = [line.plain for picture in taken for line in render(picture)]
    return {"text": "\n".join(plain), "html": _whole(svg.figures(taken))}


def _whole(body: str) -> str:
    return f'{STYLE}\n<div class="kata">\n{body}\n</div>'
