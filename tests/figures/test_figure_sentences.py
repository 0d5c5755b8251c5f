"""What a figure says of what is seen is true wherever its controls are moved."""

import random
import re

import pytest
import torch
from figure_pages import FIGURES, FIRST
from thorough import sample

pytestmark = pytest.mark.slow

LEAST_NORMAL = torch.finfo(torch.float32).tiny

# Sets all sliders of exercise 02, and gives both rows of weights as texts and the sentence.
SOFTMAX = """settings => settings.map(values => {
  const names = ['Your', 'journey', 'starts', 'with', 'one', 'step', 'Temperature'];
  const all = [...document.querySelectorAll('.kata-live input[type=range]')];
  const sliders = names.map(name => all.find(one => one.labels[0].textContent === name));
  sliders.forEach((one, i) => { one.value = Math.sign(values[i]) * Math.abs(values[i]) ** (1 / one.dataset.bend); });
  sliders.forEach(one => one.dispatchEvent(new Event('input')));
  const read = name => [...document.querySelectorAll(`.kata-live table[data-name=${name}] [data-column]`)]
    .map(cell => cell.textContent);
  return {naive: read('softmax_naive'), stable: read('softmax_stable'),
    scores: sliders.map(one => Number(one.getAttribute('aria-valuetext').replace('−', '-'))),
    said: document.querySelector('.kata-said').textContent};
})"""


def settings():
    """Scores and a temperature: the edges of float32, and many others around them."""
    draw = random.Random(0)
    yield [88.5, 0.5, 0.5, 0.5, 88.5, 0.5, 1]  # each exponential is finite, their sum is not
    yield [-103, -102.6, -102.2, -101.8, -101.4, -101, 1]  # a few bits are left of each
    yield [-200] * 6 + [1]  # all exponentials are 0
    yield [1000, -1000, 0, 0, 0, 0, 1]
    for low, high in ((-1000, 1000), (-120, 120), (-110, -85), (86, 90), (-3, 3), (-105, -100)):
        for _ in range(40):
            yield [round(draw.uniform(low, high), 4) for _ in range(6)] + [1]
    for _ in range(60):
        yield [round(draw.uniform(-3, 3), 4) for _ in range(6)] + [round(draw.uniform(0.01, 0.2), 2)]


def test_the_sentence_about_two_softmaxes_is_that_of_the_numbers_that_are_shown(opened):
    """“The same” where the same texts are shown, and no other reason than that of float32."""
    kinds = set()
    for seen in opened(FIRST["02"]).evaluate(SOFTMAX, list(settings())):
        naive, stable, said = seen["naive"], seen["stable"], seen["said"]
        *scores, temperature = seen["scores"]
        scores = (torch.tensor(scores, dtype=torch.float64) / temperature).float()
        exps = scores.exp()
        assert ("the same" in said) == (naive == stable), seen
        assert ("nan" in said) == ("nan" in naive), seen
        assert ("too large for a float32" in said) == bool(exps.isinf().any()), seen
        assert ("their sum is too large" in said) == bool(exps.isfinite().all() and exps.sum().isinf()), seen
        assert ("too small" in said) == bool((exps == 0).all()), seen
        assert "so small" not in said or 0 < exps.max() < LEAST_NORMAL, seen
        assert "-" not in said
        if told := re.search(r"once|(\d+) times", said):
            assert naive.count("nan") == int(told[1] or 1), seen
        kinds.add(re.sub(r"[−\d.,]+|“\w+”|once|times", "#", said))
    assert len(kinds) >= 5


def test_every_slider_acts_at_once(opened):
    """No slider waits for a button: what is drawn or said changes when it is moved to another place."""
    idle = []
    for folder in sample(FIGURES, 6):
        page = opened(folder)
        idle += page.evaluate(
            """folder => [...document.querySelectorAll('.kata-live input[type=range]')].filter(one => {
              const seen = () => ['.kata-view', '.kata-said'].map(one => document.querySelector(one).innerHTML).join();
              const before = seen(), start = one.value;
              const move = (value) => { one.value = value; one.dispatchEvent(new Event('input')); };
              const isIdle = ['max', 'min'].every(end => { move(one[end]); return seen() === before; });
              move(start);  // another slider may do nothing where this one is at its end
              return isIdle;
            }).map(one => `${folder}: ${one.labels[0].textContent}`)""",
            folder,
        )
    assert idle == []


@pytest.mark.parametrize("folder", sample(FIGURES, 3))
def test_the_cell_that_is_pressed_is_the_one_that_was_picked(opened, folder):
    page = opened(folder)
    for name in page.locator(".kata-live table:has(button)").evaluate_all("all => all.map(one => one.dataset.name)"):
        table = page.locator(f'.kata-live table[data-name="{name}"]')
        for button in (table.locator("button").last, table.locator("button").first):
            button.click()
            assert button.get_attribute("aria-pressed") == "true", name
            assert table.locator('button[aria-pressed="true"]').count() == 1
