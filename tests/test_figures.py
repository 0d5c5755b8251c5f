"""The interactive figures, drawn by a real browser: their first numbers, what moves them, and what everybody can use.

`figure_cases.py` says what is done to each figure and what torch computes must come out.
"""

import re

import pytest
import torch
from browser import CONTRASTS, browser
from figure_cases import CASES

from grader import catalog
from grader.catalog import paths
from grader.integrations.figures import joining, placing
from grader.judge import figure_numbers as numbers

FIGURES = [exercise.folder for exercise in catalog.exercises() if paths.figure_script(exercise.folder).exists()]
ALL_CASES = [(folder, case) for folder in FIGURES for case in CASES.get(folder[:2], [])]
SCRIPT_BYTES = 150_000
PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def folder_of_pages(tmp_path_factory):
    """A page for each figure, as the site places it but for the theme."""
    root = tmp_path_factory.mktemp("figures")
    for name in FIGURES:
        html = placing.placed("<h1>Lesson</h1><p>First words.</p><p id='after'>After.</p>", name, f"{name}.js")
        head = f"{PAGE}<title>Figure</title><style>body{{margin:16px}}{paths.FIGURE_STYLE.read_text('utf-8')}</style>"
        (root / f"{name}.html").write_text(f'{head}<body data-md-color-scheme="default">{html}', "utf-8")
        (root / f"{name}.js").write_text(joining.script(name), "utf-8")
    return root


@pytest.fixture(scope="module")
def tab(chromium):
    """One page of a browser for all figures; `tab.troubles` holds errors of scripts and requests to elsewhere."""
    context = chromium.new_context(viewport={"width": 1000, "height": 900})
    page = context.new_page()
    page.troubles = []
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("console", lambda said: page.troubles.append(said.text) if said.type in ("error", "warning") else None)
    context.on(
        "request", lambda request: None if request.url.startswith("file:") else page.troubles.append(request.url)
    )
    yield page
    context.close()


@pytest.fixture
def opened(tab, folder_of_pages):
    """Opens the page of a figure; afterwards nothing may have gone wrong."""

    def open_page(folder):
        tab.goto((folder_of_pages / f"{folder}.html").as_uri())
        return tab

    tab.troubles.clear()
    yield open_page
    assert tab.troubles == []


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


def agrees(texts, expected, tolerance=0.0):
    """Each number that is shown is the expected one, to its last digit."""
    flat, wanted = [text for row in texts for text in row], torch.as_tensor(expected, dtype=torch.float64).flatten()
    assert len(flat) == wanted.numel(), texts
    for text, value in zip(flat, wanted.tolist()):
        digits = len(text.partition(".")[2])
        got = float(text) if text else 0.0
        near = 0.5 * 10**-digits * 1.02 + 1e-6 * abs(value) + tolerance
        assert got == value or abs(got - value) <= near or (got != got and value != value), (text, value)


def move(page, label, value):
    """Set the slider with this label."""
    page.get_by_label(label, exact=True).evaluate(
        """(input, value) => { input.value = Math.sign(value) * Math.abs(value) ** (1 / input.dataset.bend);
        input.dispatchEvent(new Event('input')); }""",
        value,
    )


def act(page, step):
    """Do one step of a case."""
    what, *arguments = step
    if what == "move":
        move(page, *arguments)
    elif what == "press":
        page.get_by_role("button", name=arguments[0], exact=True).click()
    elif what == "choose":
        page.get_by_role("group", name=arguments[0], exact=True).get_by_label(arguments[1], exact=True).check()
    elif what == "toggle":
        page.get_by_label(arguments[0], exact=True).click()
    elif what == "type":
        page.get_by_label(arguments[0], exact=True).fill(arguments[1])
    elif what == "pick":
        name, i, j = arguments
        page.locator(f'table[data-name="{name}"] button[data-row="{i}"][data-column="{j}"]').click()
    elif what == "key":
        page.keyboard.press(arguments[0])
    else:
        raise AssertionError(f"no such step: {step}")


@pytest.mark.parametrize("folder", FIGURES)
def test_the_first_numbers_are_the_documented_ones(opened, folder):
    page = opened(folder)
    wanted = numbers.start(folder)
    assert wanted
    for one in wanted:
        texts = shown(page, one.name)
        if torch.isnan(one.values).any():  # rows that grow: what stands beyond them is not printed
            texts = [row[: int((~torch.isnan(values)).sum())] for row, values in zip(texts, one.values)]
        agrees(texts, one.values[~torch.isnan(one.values)], float(one.tolerance.max()))
        finest = max(len(text.partition(".")[2]) for row in texts for text in row)
        assert finest >= 3 or torch.equal(one.values.nan_to_num(), one.values.nan_to_num().round()), one.name


@pytest.mark.parametrize(("folder", "case"), ALL_CASES, ids=[f"{folder[:2]}-{case.name}" for folder, case in ALL_CASES])
def test_an_interaction_gives_what_torch_computes(opened, folder, case):
    page = opened(folder)
    before = page.locator(".kata-live").inner_html()
    for step in case.steps:
        act(page, step)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        wanted = case.expected()
    for name, expected in wanted.items():
        agrees(shown(page, name), expected, case.tolerance)
    assert re.search(case.says, page.locator(".kata-said").inner_text()), page.locator(".kata-said").inner_text()
    assert wanted or case.says
    assert page.locator(".kata-live").inner_html() != before


def test_every_figure_has_three_cases():
    assert FIGURES
    assert {folder: len(CASES.get(folder[:2], [])) for folder in FIGURES if len(CASES.get(folder[:2], [])) < 3} == {}


@pytest.mark.parametrize("folder", FIGURES)
def test_everybody_can_use_it(opened, folder):
    """Each control has a name and a value and takes the focus; every text has contrast, light and dark."""
    page = opened(folder)
    for control in page.locator(".kata-live :is(input, button):visible").all():
        kind = control.get_attribute("type")
        name = control.evaluate("one => one.labels?.[0]?.textContent ?? one.ariaLabel ?? one.textContent")
        assert name.strip(), control.evaluate("one => one.outerHTML")
        assert kind != "range" or control.get_attribute("aria-valuetext")
        assert control.evaluate("one => { one.focus(); return document.activeElement === one; }")
    for scheme in ("default", "slate"):
        page.evaluate("scheme => { document.body.dataset.mdColorScheme = scheme; }", scheme)
        background = "#fff" if scheme == "default" else "#1e2129"
        page.evaluate("colour => { document.body.style.background = colour; }", background)
        inside = page.evaluate(CONTRASTS)
        assert len(inside) > 10
        assert [
            text for text in inside if text["ratio"] < 4.5 and text["text"] not in ("Lesson", "First words.", "After.")
        ] == []


@pytest.mark.parametrize("folder", FIGURES)
def test_it_fits_a_phone(opened, folder):
    """Nothing is wider than a screen of 390 pixels; a wide matrix is scrolled in its own box."""
    page = opened(folder)
    page.set_viewport_size({"width": 390, "height": 800})
    try:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        page.set_viewport_size({"width": 1000, "height": 900})


@pytest.mark.parametrize("folder", FIGURES)
def test_a_script_is_small_and_imports_nothing(folder):
    script = joining.script(folder)
    assert len(script.encode()) < SCRIPT_BYTES
    assert not re.search(r"^\s*(import|export)\b|https?://(?!www\.w3\.org/2000/svg)", script, re.M)
    assert joining.widget(folder).count("export default") == 1


@pytest.mark.parametrize("folder", FIGURES)
def test_no_solution_stands_in_its_data(folder):
    said = re.sub(r"\s+", "", str(numbers.data(folder)))
    lines = [re.sub(r"\s+", "", line) for line in paths.solution(folder).read_text("utf-8").splitlines()]
    assert not any(line in said for line in lines if len(line) > 20)


def test_without_a_script_and_in_print_a_still_picture_stands_there(chromium, folder_of_pages):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    for folder in FIGURES:
        page.goto((folder_of_pages / f"{folder}.html").as_uri())
        assert page.locator(".kata-still svg").count() == len(numbers.start(folder))
        assert page.locator(".kata-still svg .number").first.is_visible()
    context.close()
    page = chromium.new_page()
    page.goto((folder_of_pages / f"{FIGURES[0]}.html").as_uri())
    assert not page.locator(".kata-still").is_visible() and page.locator(".kata-live").is_visible()
    page.emulate_media(media="print")
    assert page.locator(".kata-still").is_visible() and not page.locator(".kata-live").is_visible()
    page.close()


def test_nothing_moves_when_a_figure_is_drawn(chromium, folder_of_pages):
    """The layout shift that browsers measure is zero: the script draws before what follows it is laid out."""
    page = chromium.new_page()
    page.add_init_script(
        """window.shift = 0;
        new PerformanceObserver(list => { for (const one of list.getEntries()) shift += one.value; })
        .observe({type: 'layout-shift', buffered: true});"""
    )
    for folder in FIGURES:
        page.goto((folder_of_pages / f"{folder}.html").as_uri())
        page.wait_for_timeout(50)
        assert page.evaluate("shift") == 0, folder
    page.close()


def test_arrow_keys_move_sliders_and_cells(opened):
    """The keyboard alone: a bent slider steps by its own step, and a cell hands the focus to its neighbour."""
    page = opened(next(folder for folder in FIGURES if folder.startswith("02")))
    slider = page.get_by_label("journey", exact=True)
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "1.5950"
    agrees(
        shown(page, "softmax_stable"),
        torch.softmax(torch.tensor([0.9544, 1.5950, 1.4754, 0.8434, 0.7070, 1.0865]), 0),
        1e-4,
    )
