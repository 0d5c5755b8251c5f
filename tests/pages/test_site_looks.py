"""The site as it looks: every page on a phone, a tablet and a desk, light and dark, in a real browser.

With SCREENSHOTS=folder a picture of each is kept there.
"""

import os
import re
from pathlib import Path

import pytest
from browser import CONTRASTS, browser
from globs import some
from thorough import sample

from grader import catalog
from grader.catalog import paths

for name in ("material", "latex2mathml"):
    pytest.importorskip(name, reason=f"{name} is not installed (extra docs)")
axe_module = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed (extra dev)"
)

PHONE, TABLET, DESK = WIDTHS = (390, 768, 1280)
SCHEMES = ("default", "slate")  # the theme's names for light and dark
PAGES = 1  # of each kind, where tests are not thorough
# WCAG A and AA. Browsers let the keyboard scroll a box that is too wide; axe does not know it.
RULES = {"runOnly": ["wcag2a", "wcag2aa"], "rules": {"scrollable-region-focusable": {"enabled": False}}}
CONTRAST = {"runOnly": ["color-contrast"]}
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"
# What is wider than the screen and cannot be scrolled into sight in a box of its own.
OUTSIDE = """() => [document.documentElement.scrollWidth > innerWidth ? 'the page' : '',
  ...[...document.querySelectorAll('article :is(p, li, h1, h2, h3, img, svg, figure)')]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('pre, .formula, table, figure *')
      && !(one.matches('p > img') && getComputedStyle(one.parentElement).overflowX === 'auto'))
    .map(one => one.outerHTML.slice(0, 80))].filter(Boolean)"""
CUT = """() => [...document.querySelectorAll('pre, pre > code')]
  .filter(one => one.clientWidth && one.scrollWidth > one.clientWidth).map(one => one.innerText.slice(0, 200))"""
# The words and numbers of tables that stand on more than one line.
BROKEN = """() => {
  const found = [], walker = document.createTreeWalker(document.querySelector('article'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.closest('td, th') || !node.parentElement.checkVisibility()) continue;
    for (const word of node.textContent.matchAll(/[\\p{L}\\p{N}_.,]+/gu)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) found.push(word[0]);
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def tab():
    with browser() as chromium:
        yield chromium.new_page()


@pytest.fixture(scope="module")
def pictures() -> Path | None:
    """Where pictures are kept, if anywhere."""
    if not (named := os.environ.get("SCREENSHOTS")):
        return None
    Path(named).mkdir(parents=True, exist_ok=True)
    return Path(named)


def looked_at(built: Path) -> list[Path]:
    """A sample of the lessons, and of the pages beside them."""
    lessons = [built / "lessons" / exercise.folder / "index.html" for exercise in catalog.exercises()]
    first = [built / "index.html", built / "overview.html"]
    others = sorted({*some(built.rglob("*.html"))} - {*lessons, *first, built / "404.html"})  # that is the theme's own
    return [*first, *sample(lessons, PAGES), *sample(others, PAGES)]


def test_every_page_fits_every_screen_and_has_contrast(built, tab, pictures):
    """One load of each page; size and colours are changed in place. Contrast: the first page both light and dark.

    All else that axe looks at is the same in both.
    """
    wrong = []
    for number, page in enumerate(looked_at(built)):
        name = page.relative_to(built).as_posix()
        tab.set_viewport_size({"width": DESK, "height": 900})
        tab.goto(page.as_uri())
        tab.add_style_tag(content=STILL)
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            wrong += [f"{name} at {width}: {one} is too wide" for one in tab.evaluate(OUTSIDE)]
            wrong += [f"{name} at {width}: the word {one} is broken" for one in tab.evaluate(BROKEN)]
            if width != PHONE:
                wrong += [f"{name} at {width}: this code is cut: {one}" for one in tab.evaluate(CUT)]
            for scheme in SCHEMES if pictures else ():
                paint(tab, scheme)
                tab.screenshot(path=pictures / f"{name.replace('/', '-')}-{width}-{scheme}.png", full_page=True)
        for scheme, rules in [(SCHEMES[number % 2], RULES), *([(SCHEMES[1], CONTRAST)] if number == 0 else [])]:
            paint(tab, scheme)
            wrong += [f"{name} in {scheme}: {one}" for one in violations(tab, rules)]
    assert not wrong, "\n".join(wrong)


def paint(tab, scheme: str) -> None:
    """Show the page light or dark, as the switch in its header does."""
    tab.evaluate("scheme => { document.body.dataset.mdColorScheme = scheme; }", scheme)


def violations(tab, rules: dict) -> list[str]:
    """What axe-core finds against the rules, with the first place of each."""
    found = axe_module.Axe().run(tab, options=rules).response["violations"]
    return [f"{one['id']}, {len(one['nodes'])} times, as in {one['nodes'][0]['html'][:120]}" for one in found]


def test_the_overview_is_a_table_on_a_desk_and_cards_on_a_phone(built, tab):
    tab.goto((built / "overview.html").as_uri())
    rows = tab.locator("article tbody tr")
    assert rows.count() == len(catalog.exercises())
    tops = "row => [...row.cells].map(cell => Math.round(cell.getBoundingClientRect().top))"
    for width, is_card in ((DESK, False), (PHONE, True)):
        tab.set_viewport_size({"width": width, "height": 900})
        places = rows.first.evaluate(tops)
        assert places == sorted(set(places)) if is_card else len(set(places)) == 1
        assert tab.locator("article thead").first.is_visible() is not is_card
    for exercise, row in zip(catalog.by_path(), rows.all(), strict=True):
        said = row.inner_text()
        assert exercise.title in said and "min" in said and re.search(r"\b(easy|medium|hard)\b", said), said


def test_a_learner_sees_lessons_progress_and_help_alone(built, tab):
    """Teachers' and authors' pages have tabs of their own, and no title stands twice."""
    tab.set_viewport_size({"width": DESK, "height": 900})
    tab.goto((built / "lessons" / catalog.exercises()[0].folder / "index.html").as_uri())
    seen = tab.eval_on_selector_all(
        ".md-sidebar--primary a", "all => all.filter(one => one.checkVisibility()).map(one => one.getAttribute('href'))"
    )
    pages = {target.rpartition("/")[2] for target in seen if "lessons" not in target and "index" not in target}
    help_pages = {"self-study.html", "promises.html", "tolerances.html", "commands.html", "tools.html"}
    assert pages == {"overview.html", "how-we-know.html", *help_pages}
    assert sum("index.html" in target for target in seen) >= len(catalog.exercises())
    tabs = tab.eval_on_selector_all(".md-tabs__link", "all => all.map(one => one.textContent.trim())")
    assert tabs == ["Learn", "Teach", "Contribute"]
    titles = []
    for page in some(built.rglob("*.html")):
        titles += re.findall(r"<h1[^>]*>(.*?)<", page.read_text("utf-8"))[:1]
    assert len(titles) > 2 * len(catalog.exercises()) and len(titles) == len(set(titles))
    assert not (built / f"{paths.at_root('docs/learners.md').stem}.html").exists()


def test_a_diagram_is_never_enlarged(built, tab):
    """Its words have the size in which they were drawn, on a desk as on a phone; a wide one scrolls in its own box."""
    sizes = """() => [...document.querySelectorAll('article p > img:only-child')]
      .map(one => [one.src, one.getBoundingClientRect().width, one.naturalWidth])"""
    seen = 0
    drawn_in = [page for page in some(built.glob("lessons/*/index.html")) if ".svg" in page.read_text("utf-8")]
    for page in sample(drawn_in, 5):
        tab.goto(page.as_uri())
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            for source, shown, drawn in tab.evaluate(sizes):
                seen += 1
                assert drawn and shown <= drawn + 1, (source, width)
                assert shown >= min(drawn, 34 * 20) - 1, (source, width)
    assert len(drawn_in) > 10 and seen >= 3 * 5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_paper_is_white_however_dark_the_screen(built, tab, scheme):
    """Links and code have contrast on paper when the page was dark, too."""
    tab.set_viewport_size({"width": DESK, "height": 900})
    tab.goto((built / "lessons" / catalog.exercises()[3].folder / "index.html").as_uri())
    tab.add_style_tag(content=STILL)
    paint(tab, scheme)
    tab.emulate_media(media="print", color_scheme="dark" if scheme == "slate" else "light")
    texts = tab.evaluate(CONTRASTS)
    links = tab.eval_on_selector_all("article p a", "all => all.map(one => getComputedStyle(one).color)")
    diagrams = tab.eval_on_selector_all("article p > img", "all => all.map(one => getComputedStyle(one).colorScheme)")
    tab.emulate_media(media="screen", color_scheme="light")
    assert set(diagrams) == {"light"}  # they have colours of their own for dark pages
    assert len(texts) > 100 and set(links) == {"rgb(57, 73, 171)"}
    assert [text for text in texts if text["ratio"] < 4.5 and text["text"] != "Skip to content"] == []


def test_the_tab_key_stops_at_a_box_only_while_it_scrolls(built, tab):
    """Formulas and tables of experiments: on a desk most of them fit."""
    tab.goto((built / "lessons" / catalog.exercises()[6].folder / "index.html").as_uri())
    counts = []
    for width in (DESK, 320):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        boxes = tab.eval_on_selector_all(
            ".formula, div.experiment", "all => all.map(one => [one.tabIndex === 0, one.scrollWidth > one.clientWidth])"
        )
        assert all(is_stop == is_wide for is_stop, is_wide in boxes)
        counts.append((len(boxes), sum(is_wide for _, is_wide in boxes)))
    (boxes, wide), (_, wide_on_a_phone) = counts
    assert wide < boxes and wide_on_a_phone > wide


def test_nothing_lies_over_the_sliders_of_a_figure(built, tab):
    """Scrolling up shows nothing that covers what it is scrolled to, on the smallest screen."""
    tab.set_viewport_size({"width": PHONE, "height": 700})
    tab.goto((built / "lessons" / catalog.exercises()[5].folder / "index.html").as_uri())
    tab.evaluate("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
    tab.evaluate("document.querySelector('.kata-controls').scrollIntoView({block: 'end', behavior: 'instant'})")
    covered = tab.eval_on_selector_all(
        ".kata-live .kata-controls input",
        """all => all.filter(one => {
          const box = one.getBoundingClientRect();
          const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
          return top && !one.closest('.kata-figure').contains(top);
        }).map(one => one.outerHTML)""",
    )
    assert covered == [] and tab.locator(".md-top").count() == 0


def test_the_start_leads_to_the_first_lessons(built, tab):
    tab.goto((built / "index.html").as_uri())
    targets = tab.eval_on_selector_all("article a", "all => all.map(one => one.getAttribute('href'))")
    for exercise in catalog.exercises()[:2]:
        assert f"lessons/{exercise.folder}/index.html" in targets
