"""The figures that there are, what is read of a page that shows one, and what is done to it."""

from pathlib import Path
from typing import Any

import torch

from grader import catalog
from grader.catalog import paths
from grader.integrations import figures

PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
SIZE = {"width": 1000, "height": 900}
SENTENCE = ".kata-said"  # what a figure says of what is seen
FIGURES = [exercise.folder for exercise in catalog.exercises() if paths.figure_script(exercise.folder).exists()]
FIRST = {folder[:2]: folder for folder in FIGURES}  # the folder of an exercise by its number


def write_page(folder: Path, name: str) -> Path:
    """Write the page of a figure, as the site places it but for the theme, and its script. Returns the page."""
    lesson = f"<h1>Lesson</h1><p>First words.</p><p>{figures.PLACE}</p><p id='after'>After.</p>"
    html = figures.place_figure(lesson, name, f"{name}.js")
    style = figures.style()
    head = f"{PAGE}<title>Figure</title><style>body{{margin:16px;overflow-wrap:break-word}}{style}</style>"
    (folder / f"{name}.js").write_text(figures.script(name), "utf-8")
    page = folder / f"{name}.html"
    page.write_text(f'{head}<body data-md-color-scheme="default">{html}', "utf-8")
    return page


def new_tab(chromium) -> Any:
    """A page of a browser; `troubles` holds errors of scripts and requests to elsewhere."""
    context = chromium.new_context(viewport=SIZE)
    page = context.new_page()
    page.troubles = []
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("console", lambda said: page.troubles.append(said.text) if said.type in ("error", "warning") else None)
    context.on("request", lambda asked: None if asked.url.startswith("file:") else page.troubles.append(asked.url))
    return page


def shown(page, name):
    """The numbers of the matrix with this name as printed: rows of texts."""
    rows = page.evaluate(
        """name => [...document.querySelectorAll('.kata-live [data-name]')].filter(one => one.dataset.name === name)
        .map(one => [...one.querySelectorAll('tr')].map(row => [...row.querySelectorAll('[data-row][data-column]')]
        .map(cell => cell.textContent)).filter(row => row.length))""",
        name,
    )
    assert len(rows) == 1, f"{len(rows)} matrices are called {name!r}"
    return [[text.replace("−", "-").replace(",", "") for text in row] for row in rows[0]]


def pale(texts):
    """Of the texts that CONTRASTS finds those of the figure with too little contrast."""
    return [one for one in texts if one["ratio"] < 4.5 and one["text"] not in ("Lesson", "First words.", "After.")]


def agrees(texts, expected, tolerance=0.0):
    """Each number that is shown is the expected one, to its last digit."""
    flat, wanted = [text for row in texts for text in row], torch.as_tensor(expected, dtype=torch.float64).flatten()
    assert len(flat) == wanted.numel(), texts
    for text, value in zip(flat, wanted.tolist()):
        digits = len(text.partition(".")[2])
        got = float(text) if text and text != "·" else 0.0  # a dot is a 0 that the mask hides
        near = 0.5 * 10**-digits * 1.02 + 1e-6 * abs(value) + tolerance
        assert got == value or abs(got - value) <= near or (got != got and value != value), (text, value)


def act(page, step):
    """Do a step: {"Tokens": 3, "Base": "100", "Causal": True} sets a slider, a choice and a box, others are tuples."""
    if isinstance(step, dict):
        for label, value in step.items():
            set_control(page, label, value)
        return
    what, *arguments = step
    if what == "press":
        page.get_by_role("button", name=arguments[0], exact=True).click()
    elif what == "type":
        unfold(page.get_by_label(arguments[0], exact=True)).fill(arguments[1])
    elif what == "pick":
        name, i, j = arguments
        page.locator(f'table[data-name="{name}"] button[data-row="{i}"][data-column="{j}"]').click()
    elif what == "key":
        page.keyboard.press(arguments[0])
    else:
        raise AssertionError(f"no such step: {step}")


def set_control(page, label, value):
    """Move a slider to a number, choose a text in a group of buttons, tick a box or not."""
    if isinstance(value, str):
        group = page.get_by_role("group", name=label, exact=True, include_hidden=True)
        unfold(group).get_by_label(value, exact=True).check()
    elif isinstance(value, bool):
        unfold(page.get_by_label(label, exact=True)).set_checked(value)
    else:
        page.get_by_label(label, exact=True).evaluate(
            """(input, value) => { input.value = Math.sign(value) * Math.abs(value) ** (1 / input.dataset.bend);
            input.dispatchEvent(new Event('input')); }""",
            value,
        )


def unfold(control):
    """A control that can be used, also where it was folded away."""
    control.locator("xpath=ancestor::details").evaluate_all("all => all.forEach(one => one.open = true)")
    return control
