"""The figures in use: by fingers, with the Tab key, with a screen reader, on a small screen, on paper."""

import itertools

import pytest
from browser import CONTRASTS
from figure_pages import FIGURES, FIRST, SENTENCE, act, new_tab, pale
from thorough import sample

pytestmark = pytest.mark.slow

LOOKED_AT = sample(FIGURES, 4)  # how a figure is used is rarely its own alone; at night all of them
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# Until the browser has laid out and painted what a script did, and told its observers.
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Every control that can be pressed or moved, with the box in which a finger finds it: a radio button's with its label.
TARGETS = """() => [...document.querySelectorAll('.kata-live :is(input, button), .kata-live .handle')]
  .filter(one => one.checkVisibility())
  .map(one => {
    const boxes = [one, ...(one.type === 'radio' || one.type === 'checkbox' ? one.labels : [])]
      .map(part => part.getBoundingClientRect());
    const [left, top] = ['left', 'top'].map(side => Math.min(...boxes.map(box => box[side])));
    const [right, bottom] = ['right', 'bottom'].map(side => Math.max(...boxes.map(box => box[side])));
    return {what: one.outerHTML.slice(0, 120), width: right - left, height: bottom - top,
      isMain: one.type === 'range' || one.matches('.kata-button, .handle')};
  })"""
# Pairs of words in one drawing of which one is written over the other or over a point, and words that its edge cuts.
COVERED = """where => [...document.querySelectorAll(`${where} svg`)].flatMap(svg => {
  const inside = svg.getBoundingClientRect();
  const words = [...svg.querySelectorAll('text')].filter(one => one.textContent.trim())
    .map(one => [one.textContent, one.getBoundingClientRect()]);
  const cut = words.filter(([, box]) => box.left < inside.left - 1 || box.right > inside.right + 1)
    .map(([word]) => [word, 'the edge']);
  const points = [...svg.querySelectorAll(':is(.dot, .arrow, .cross):is(circle, path)')]
    .map(one => ['a point', one.getBoundingClientRect()]);
  return [...cut, ...words.flatMap(([word, a], i) => [...words.slice(i + 1), ...points]
    .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
    .map(([other]) => [word, other]))];
})"""
SENTENCE_TOKENS = ("Your", "journey", "starts", "with", "one", "step")
MOVES = {
    "03": [
        {"Query": token, "Dimensions": axes}
        for token, axes in itertools.product(SENTENCE_TOKENS, ("0 and 1", "0 and 2", "1 and 2"))
    ],
    "05": [
        {"Token": token, "Chosen entry of W_query": entry, "Use W_query for the keys too": same}
        for token, entry, same in itertools.product(SENTENCE_TOKENS, (-1, -0.3, 0, 0.3, 0.6), (False, True))
    ],
    "19": [{"Query at": place} for place in range(33)],
}


@pytest.fixture
def phone(chromium, folder_of_pages):
    """Opens the page of a figure on a phone."""
    context = chromium.new_context(**PHONE)
    page = context.new_page()

    def open_page(folder):
        page.goto((folder_of_pages / f"{folder}.html").as_uri())
        page.evaluate("document.body.style.minHeight = '3000px'")  # so that a finger could scroll
        return page

    yield open_page
    context.close()


@pytest.fixture
def fingers(phone):
    """The figure of exercise 01, a function that touches its page, and one that gives the numbers of its sliders."""
    page = phone(FIRST["01"])
    page.evaluate("document.querySelector('.kata-plane').scrollIntoView({block: 'center'})")
    devtools = page.context.new_cdp_session(page)

    def touch(kind, *places):
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)]
        devtools.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
        page.evaluate(PAINTED)

    def read():
        texts = page.locator(".kata-control output").all_text_contents()
        return [float(text.replace("−", "-")) for text in texts]

    return page, touch, read


def middle(page, index):
    """The middle of an arrow's end, and how far one unit of the plane is, in pixels."""
    box = page.locator(".kata-plane .handle").nth(index).bounding_box()
    side = page.locator(".kata-plane").bounding_box()["width"]
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, side * (300 - 60) / 300 / 2


def test_a_finger_drags_an_arrow_all_the_way(fingers):
    """Each of many moves arrives, and the page is not scrolled with them."""
    page, touch, read = fingers
    (x, y, unit), (a_x, a_y, *b) = middle(page, 0), read()
    scrolled = page.evaluate("scrollY")
    touch("Start", (x, y))
    for step in range(1, 15):
        touch("Move", (x - 5 * step, y + 5 * step))
        assert read()[:2] == pytest.approx([a_x - 5 * step / unit, a_y - 5 * step / unit], abs=0.02), step
    touch("End")
    assert read()[2:] == b and page.evaluate("scrollY") == scrolled


@pytest.mark.parametrize("end", ["End", "Cancel"])
def test_a_drag_ends_with_its_finger(fingers, end):
    """Whether the finger is lifted or the browser takes it: what is touched later moves no arrow."""
    page, touch, read = fingers
    x, y, _ = middle(page, 0)
    touch("Start", (x, y))
    touch("Move", (x - 20, y + 20))
    touch(end)
    after = read()
    touch("Start", (300, 300))
    for step in range(1, 4):
        touch("Move", (300, 300 - 2 * step))
    touch("End")
    assert read() == after


def test_only_the_first_button_of_a_mouse_drags(opened):
    """And with the arrow's end its two sliders, no further than to their ends, and the product."""
    page = opened(FIRST["01"])
    x, y, unit = middle(page, 0)
    before = page.locator(SENTENCE).inner_text()
    for button in ("right", "middle", "left"):
        assert page.locator(SENTENCE).inner_text() == before
        page.mouse.move(x, y)
        page.mouse.down(button=button)
        page.mouse.move(x, y - 2 * unit, steps=4)
        page.mouse.up(button=button)
    told = [page.get_by_label(f"a, {axis}", exact=True).get_attribute("aria-valuetext") for axis in "xy"]
    a_x, a_y = (float(value.replace("−", "-")) for value in told)
    assert a_y == 1
    assert f" = {0.3 * a_x + 0.4 * a_y:.4f};" in page.locator(SENTENCE).inner_text()


def test_drawing_again_keeps_what_is_still_there(drawn):
    """A table, a drawing or a cell that has the same name after a change is the same node: focus and fingers stay."""
    page = drawn.page
    page.reload()
    lost = page.evaluate(
        """() => {
          const seen = () => new Map(
            [...document.querySelectorAll('.kata-view [data-name], .kata-view svg[aria-label]')]
            .map(one => [`${one.tagName} ${one.dataset.name ?? one.closest('[data-name]').dataset.name}`, one])
          );
          return [...document.querySelectorAll('.kata-live .kata-controls :is(input, button)')].flatMap(control => {
            const before = seen();
            if (control.type === 'range') {
              control.value = (Number(control.min) + 2 * Number(control.max)) / 3;
              control.dispatchEvent(new Event('input'));
            } else if (control.type !== 'text' && control.checkVisibility()) control.click();
            const after = seen();
            return [...before.keys()].filter(name => after.has(name) && after.get(name) !== before.get(name));
          });
        }"""
    )
    assert lost == []
    page.reload()


def test_a_screen_reader_says_one_sentence_at_the_end_of_a_drag(chromium, folder_of_pages):
    page = new_tab(chromium)
    page.clock.install(time=0)
    page.goto((folder_of_pages / f"{FIRST['06']}.html").as_uri())
    page.clock.pause_at(3600)  # until then the clock runs by itself, and a busy machine takes its time
    spoken, said = page.locator(".kata-spoken[role=status]"), page.locator(SENTENCE)
    assert spoken.inner_text() == said.inner_text()
    assert not page.locator(".kata-live [role=status]").nth(1).count()
    page.evaluate(
        """() => { window.said = [];
        const spoken = document.querySelector('.kata-spoken');
        new MutationObserver(() => said.push(spoken.textContent)).observe(spoken, {childList: true}); }"""
    )
    for value in range(20, 40):
        act(page, {"d_k": value})
        page.clock.run_for(50)
    assert page.evaluate("said") == [] and "d_k = 39" in said.inner_text()
    page.clock.run_for(1000)
    assert page.evaluate("said") == [said.inner_text()]


@pytest.mark.parametrize("width", [1000, 320])
def test_the_tab_key_stops_only_where_there_is_something_to_do(drawn, width):
    """At a control, or at a box that is too narrow for what is in it and holds no button."""
    page = drawn.page
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(PAINTED)
    stops, expected = page.evaluate(
        """() => ['.kata-live [tabindex="0"]:not(button)', '.kata-live *']
          .map((selector, i) => [...document.querySelectorAll(selector)]
            .filter(one => !i || (one.scrollWidth > one.clientWidth && !one.querySelector('button')
              && ['auto', 'scroll'].includes(getComputedStyle(one).overflowX)))
            .map(one => one.outerHTML.slice(0, 150)))"""
    )
    assert stops == expected
    assert all('role="region"' in stop and "aria-label" in stop for stop in stops)


def test_a_figure_fits_the_narrowest_screen(drawn):
    """320 pixels, what WCAG asks for (1.4.10): only a table may be scrolled sideways, in its own box."""
    page = drawn.page
    page.set_viewport_size({"width": 320, "height": 800})
    page.evaluate(PAINTED)
    outside = page.evaluate(
        """() => [...document.querySelectorAll('.kata-live *')]
          .filter(one => !one.closest('.kata-scroll *, .kata-spoken'))
          .filter(one => one.getBoundingClientRect().right > one.closest('.kata-figure').getBoundingClientRect().right)
          .map(one => one.outerHTML.slice(0, 100))"""
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert outside == []


@pytest.mark.parametrize("width", [1000, 320])
def test_no_word_beside_a_slider_is_broken(drawn, width):
    """Neither in its name nor in its value, wherever it is moved."""
    page = drawn.page
    page.set_viewport_size({"width": width, "height": 900})
    broken = page.evaluate(
        """() => ['min', 'max'].flatMap(end => {
          for (const one of document.querySelectorAll('.kata-live input[type=range]')) {
            one.value = one[end];
            one.dispatchEvent(new Event('input'));
          }
          return [...document.querySelectorAll('.kata-control :is(label, output)')].flatMap(one =>
            [...one.textContent.matchAll(/\\S+/g)].filter(word => {
              const range = document.createRange();
              range.setStart(one.firstChild, word.index);
              range.setEnd(one.firstChild, word.index + word[0].length);
              return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1;
            }).map(([word]) => word));
        })"""
    )
    page.reload()
    assert broken == []


def test_axe_finds_nothing(drawn):
    """The rules of WCAG 2.2 AA and the good practices of axe, for the figure as it opens.

    In the dark only contrast is another one, which test_figure_pages.py looks at.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed (extra dev)").Axe()
    found = axe.run(drawn.page, context=".kata-live")
    assert found.response["passes"]
    assert [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found.response["violations"]] == []


def test_controls_are_large_enough_for_a_mouse(drawn):
    """24 pixels each way, what WCAG asks for (2.5.8)."""
    targets = drawn.page.evaluate(TARGETS)
    assert targets
    assert [one for one in targets if min(one["width"], one["height"]) < 24] == []


@pytest.mark.parametrize("folder", LOOKED_AT)
def test_controls_are_large_enough_for_a_finger(phone, folder):
    """44 pixels for sliders, buttons and handles; 40 for a cell of a matrix."""
    targets = phone(folder).evaluate(TARGETS)
    assert targets
    assert [one for one in targets if min(one["width"], one["height"]) < (44 if one["isMain"] else 40)] == []


def test_no_word_of_a_drawing_is_written_over_another(drawn):
    assert drawn.page.evaluate(COVERED, ".kata-live") == []


@pytest.mark.parametrize("number", MOVES)
def test_no_word_of_a_drawing_is_written_over_another_after_a_move(opened, number):
    page = opened(FIRST[number])
    found = {}
    for step in sample(MOVES[number], 3):
        act(page, step)
        if covered := page.evaluate(COVERED, ".kata-live"):
            found[str(step)] = covered
    assert found == {}


def test_paper_is_white_however_dark_the_screen(drawn):
    """In print from a dark page each text has contrast on white, the still picture is light and in one piece."""
    page = drawn.page
    page.evaluate("document.body.dataset.mdColorScheme = 'slate'")
    page.emulate_media(media="print", color_scheme="dark")
    texts = page.evaluate(CONTRASTS)
    still = page.locator(".kata-still")
    is_whole = still.evaluate("one => getComputedStyle(one).breakInside") == "avoid"
    scheme = still.evaluate("one => getComputedStyle(one).colorScheme")  # which the picture follows
    page.emulate_media(media="screen", color_scheme="light")
    page.evaluate("document.body.dataset.mdColorScheme = 'default'")
    assert pale(texts) == []
    assert is_whole and scheme == "light"
