"""The interactive figures as pages: for everybody, small, still without a script, and the same in a notebook."""

import re

import pytest
import torch
from browser import CONTRASTS
from figure_pages import FIGURES, agrees, pale, shown
from thorough import sample

from grader.catalog import paths
from grader.integrations import figures
from grader.judge import figure as numbers

pytestmark = pytest.mark.slow

LOOKED_AT = sample(FIGURES, 8)  # at night all of them
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


def test_the_first_numbers_are_the_documented_ones(drawn):
    """Where a figure opens with other numbers, one button brings those of the lesson."""
    wanted = numbers.start(drawn.folder)
    assert wanted
    to_lesson = drawn.page.get_by_role("button", name="As in the lesson", exact=True)
    if to_lesson.count():
        to_lesson.click()
    for one in wanted:
        texts = shown(drawn.page, one.name)
        if torch.isnan(one.values).any():  # rows that grow: what is beyond them is not printed
            texts = [row[: int((~torch.isnan(values)).sum())] for row, values in zip(texts, one.values)]
        agrees(texts, one.values[~torch.isnan(one.values)], float(one.tolerance.max()))
        finest = max(len(text.partition(".")[2]) for row in texts for text in row)
        assert finest >= 3 or torch.equal(one.values.nan_to_num(), one.values.nan_to_num().round()), one.name
    drawn.page.reload()


def test_nothing_moves_when_a_figure_is_drawn(drawn):
    """The layout shift that browsers measure is zero: the script draws before what follows it is laid out."""
    assert drawn.shift == 0


def test_everybody_can_use_it(drawn):
    """Each control has a name and a value and takes the focus; every text has contrast, light and dark."""
    page = drawn.page
    page.emulate_media(reduced_motion="reduce")  # a number on its way passes over what is dark
    controls = page.evaluate(CONTROLS)
    assert controls
    for control in controls:
        assert control["name"].strip(), control["html"]
        assert control["kind"] != "range" or control["value"], control["html"]
        assert control["takes_focus"], control["html"]
    for scheme, background in (("slate", "#1e2129"), ("default", "#fff")):  # the last one is that of the page
        page.evaluate(
            """([scheme, colour]) => {
            document.body.dataset.mdColorScheme = scheme; document.body.style.background = colour; }""",
            [scheme, background],
        )
        inside = page.evaluate(CONTRASTS)
        assert len(inside) > 10
        assert pale(inside) == []


def test_scripts_are_small_and_import_nothing_and_their_data_holds_no_solution():
    for folder in FIGURES:
        script = figures.script(folder)
        assert len(script.encode()) < SCRIPT_BYTES, folder
        assert not re.search(r"^\s*(import|export)\b|https?://(?!www\.w3\.org/2000/svg)", script, re.M), folder
        assert figures.widget(folder).count("export default") == 1, folder
        said = re.sub(r"\s+", "", str(numbers.data(folder)))
        lines = [re.sub(r"\s+", "", line) for line in paths.solution(folder).read_text("utf-8").splitlines()]
        assert not any(line in said for line in lines if len(line) > 20), folder


def test_without_a_script_and_in_print_a_still_picture_stands_there(chromium, folder_of_pages):
    page = chromium.new_context(java_script_enabled=False).new_page()
    for folder in sample(FIGURES, 3):
        page.goto((folder_of_pages / f"{folder}.html").as_uri())
        still = page.locator(".kata-still")
        assert still.is_visible() and still.get_attribute("alt") == numbers.figure(folder).title
        assert min(still.bounding_box()[side] for side in ("width", "height")) > 100  # it was decoded
    page = chromium.new_page()
    page.goto((folder_of_pages / f"{FIGURES[0]}.html").as_uri())
    assert not page.locator(".kata-still").is_visible() and page.locator(".kata-live").is_visible()
    page.emulate_media(media="print")
    assert page.locator(".kata-still").is_visible() and not page.locator(".kata-live").is_visible()


def test_a_notebooks_module_draws_the_same(drawn):
    """The ES module that anywidget is given, loaded as a module, draws what the page's script drew."""
    page = drawn.page
    live, in_notebook, text = page.evaluate(
        """async ([source, data]) => {
          const address = URL.createObjectURL(new Blob([source], {type: 'text/javascript'}));
          const values = {data, mine: {}, asked: 0, can_ask: true}, el = document.createElement('div');
          const model = {get: name => values[name], set() {}, save_changes() {}, on() {}};
          (await import(address)).default.render({model, el});
          document.body.append(el);
          const read = [document.querySelector('.kata-live').innerHTML, el.firstChild.innerHTML, el.innerText];
          el.remove();
          return read;
        }""",
        [figures.widget(drawn.folder), numbers.data(drawn.folder)],
    )
    page.troubles[:] = [said for said in page.troubles if not said.startswith("blob:")]
    threads = r'<svg class="kata-threads".*?</svg>'  # they are placed once the figure is laid out
    on_the_page, in_the_notebook = (
        re.sub(threads, "", re.sub(r"kata-\d+", "kata-id", html)) for html in (live, in_notebook)
    )
    assert on_the_page == in_the_notebook and len(on_the_page) > 1000
    assert "Use mine" in text
