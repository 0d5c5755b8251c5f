"""The interactive figures as pages: for everybody, small, still without a script, and the same in a notebook."""

import re

import pytest
import torch
from browser import CONTRASTS
from figure_pages import FIGURES, move

from grader.catalog import paths
from grader.integrations.figures import joining, still_drawings
from grader.judge import figure_numbers as numbers

SCRIPT_BYTES = 150_000
# What is seen of the controls, all in one question: each takes some milliseconds.
CONTROLS = """() => [...document.querySelectorAll('.kata-live :is(input, button)')]
  .filter(one => one.checkVisibility({visibilityProperty: true}) && one.getBoundingClientRect().width)
  .map(one => {
    one.focus();
    return {html: one.outerHTML, kind: one.getAttribute('type'), value: one.getAttribute('aria-valuetext'),
      name: one.labels?.[0]?.textContent ?? one.ariaLabel ?? one.textContent,
      takes_focus: document.activeElement === one};
  })"""


@pytest.mark.parametrize("folder", FIGURES)
def test_everybody_can_use_it(opened, folder):
    """Each control has a name and a value and takes the focus; every text has contrast, light and dark."""
    page = opened(folder)
    controls = page.evaluate(CONTROLS)
    assert controls
    for control in controls:
        assert control["name"].strip(), control["html"]
        assert control["kind"] != "range" or control["value"], control["html"]
        assert control["takes_focus"], control["html"]
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


def test_no_line_of_a_script_is_longer_than_120_letters():
    scripts = [paths.figure_script(folder) for folder in FIGURES] + sorted(paths.FIGURES.glob("*.js"))
    lines = [
        (one, number, len(line))
        for one in scripts
        for number, line in enumerate(one.read_text("utf-8").splitlines(), 1)
    ]
    assert len(lines) > 1000
    assert [(str(one), number) for one, number, length in lines if length > 120] == []


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
        assert page.locator(".kata-still svg").count() == len(numbers.start(folder)) + len(numbers.drawings(folder))
        assert page.locator(".kata-still svg .number").first.is_visible()
    context.close()
    page = chromium.new_page()
    page.goto((folder_of_pages / f"{FIGURES[0]}.html").as_uri())
    assert not page.locator(".kata-still").is_visible() and page.locator(".kata-live").is_visible()
    page.emulate_media(media="print")
    assert page.locator(".kata-still").is_visible() and not page.locator(".kata-live").is_visible()
    page.close()


# The curves (as points) and the dots (place and size) of a drawing: those that the script drew, and those of the still.
# A still has a sample of each curve after it, and its name above everything.
DRAWINGS = """([name, above]) => {
  const live = document.querySelector(`.kata-live .kata-panel[data-name="${name}"] svg`);
  const still = [...document.querySelectorAll('.kata-still svg')].find(one => one.ariaLabel.startsWith(`${name}.`));
  const read = (svg, isCurve, up) => [
    ...[...svg.querySelectorAll('.curve')].filter(isCurve)
      .map(one => [...one.points].flatMap(point => [point.x, point.y - up])),
    ...[...svg.querySelectorAll('circle')]
      .map(one => [one.cx.baseVal.value, one.cy.baseVal.value - up, one.r.baseVal.value]),
  ];
  return [read(live, () => true, 0), read(still, (_, i) => i % 2 === 0, above)];
}"""


@pytest.mark.parametrize("folder", [folder for folder in FIGURES if numbers.drawings(folder)])
def test_the_still_curves_and_points_are_those_that_the_script_draws(opened, folder):
    page = opened(folder)
    for drawing in numbers.drawings(folder):
        live, still = page.evaluate(DRAWINGS, [drawing.name, still_drawings.NAME])
        assert live and [len(one) for one in live] == [len(one) for one in still], drawing.name
        for drawn, printed in zip(live, still):
            assert torch.allclose(torch.tensor(drawn), torch.tensor(printed), atol=0.11, rtol=0), drawing.name


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


def test_what_an_interaction_leaves_as_it_was_is_not_drawn_again(opened):
    """A head of the last layer changes no other head's map; a slider that only the button reads changes nothing."""
    page = opened(next(folder for folder in FIGURES if folder.startswith("23")))
    here = "[...document.querySelectorAll('.kata-map, .kata-view > *')]"
    page.get_by_role("button", name="Draw a sequence, twice").click()
    page.evaluate(f"window.before = {here}")
    move(page, "Period", 20)
    assert page.evaluate(f"{here}.every(one => before.includes(one))")
    page.get_by_label("layer 1, head 3", exact=True).click()
    assert page.evaluate(f"{here}.filter(one => one.matches('.kata-map') && before.includes(one)).length") == 7
    assert page.locator('.kata-panel[data-name="layer 1, head 3 (off)"]').count() == 1


@pytest.mark.parametrize("folder", FIGURES)
def test_a_notebooks_module_draws_the_same(opened, folder):
    """The ES module that anywidget is given, loaded as a module, draws what the page's script drew."""
    page = opened(folder)
    drawn = page.evaluate(
        """async ([source, data]) => {
          const address = URL.createObjectURL(new Blob([source], {type: 'text/javascript'}));
          const values = {data, mine: {}, asked: 0, can_ask: true}, el = document.createElement('div');
          const model = {get: name => values[name], set() {}, save_changes() {}, on() {}};
          (await import(address)).default.render({model, el});
          document.body.append(el);
          return [document.querySelector('.kata-live').innerHTML, el.firstChild.innerHTML, el.innerText];
        }""",
        [joining.widget(folder), numbers.data(folder)],
    )
    page.troubles[:] = [said for said in page.troubles if not said.startswith("blob:")]
    on_the_page, in_the_notebook = (re.sub(r"kata-\d+", "kata-id", html) for html in drawn[:2])
    assert on_the_page == in_the_notebook and len(on_the_page) > 1000
    assert "Use mine" in drawn[2]
