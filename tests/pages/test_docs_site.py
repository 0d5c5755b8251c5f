"""The site of the lessons: built for real, read by a real browser, from a disk and from a server, without a network."""

import ast
import functools
import gzip
import html
import http.server
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from globs import some
from thorough import THOROUGH, sample

from grader import catalog
from grader.catalog import mistakes, paths
from grader.integrations.site import pages

for name in ("material", "latex2mathml"):
    pytest.importorskip(name, reason=f"{name} is not installed (extra docs)")

CODE = re.compile(r"^```.*?^```|`(?:[^`\n]|\n(?!\n))+`", re.M | re.S)
# The browser takes as long for the hundredth x of a page as for the first.
ONE_OF_EACH_SIGN = """async () => {
  await document.fonts.ready;
  const seen = new Set();
  for (const one of document.querySelectorAll('math :is(mi, mo, mn, mtext)')) {
    const sign = `${one.tagName} ${one.textContent} ${getComputedStyle(one).font}`;
    if (!seen.has(sign)) one.dataset.sign = seen.add(sign).size;
  }
}"""
FORMULA = re.compile(r"\$\$.+?\$\$|(?<![\\$])\$(?![\s$])[^$]+?(?<!\s)\$", re.S)


@pytest.fixture(scope="module")
def address(built):
    """The site as a server on this machine gives it."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    handler = functools.partial(Quiet, directory=str(built))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def text_of(page: Path) -> str:
    """What a page says, without its markup."""
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8")))


def test_lessons_are_in_the_order_of_the_paths(built):
    menu = (
        (built / "index.html").read_text("utf-8").split('<nav class="md-nav md-nav--primary')[1].split("</nav>\n\n")[0]
    )
    linked = list(dict.fromkeys(re.findall(r'href="lessons/([^/"]+)/index.html"', menu)))
    assert linked == [exercise.folder for exercise in catalog.by_path()]
    assert "failed-checks.html" in menu and "documented-numbers.html" in menu


@pytest.mark.parametrize("exercise", catalog.exercises(), ids=lambda exercise: exercise.folder)
def test_a_lesson_is_whole(built, exercise):
    """Formulas, code, tables and lists are as many as GitHub would show."""
    markdown = pytest.importorskip("markdown_it")
    source = paths.lesson(exercise.folder).read_text("utf-8")
    page = (built / "lessons" / exercise.folder / "index.html").read_text("utf-8")
    body = page.split('<article class="md-content__inner md-typeset">')[1].split("</article>")[0]
    body = re.sub('<figure class="kata-figure".*?</figure>', "", body, flags=re.S)
    formulas = FORMULA.findall(CODE.sub("", source))
    assert body.count("<math ") == len(formulas)
    assert "arithmatex" not in body and not re.search(r"\$[^$<]*\\", re.sub(r"<pre.*?</pre>", "", body, flags=re.S))
    # Formulas hold characters that mean something in Markdown: without them the structure is the same.
    plain = markdown.MarkdownIt("commonmark").enable("table").render(FORMULA.sub("x", source))
    for tag in ("h1", "h2", "h3", "pre", "table", "tr", "ol", "ul", "li", "blockquote"):
        count = [len(re.findall(rf"<{tag}[ >]", part)) for part in (body, plain)]
        assert count[0] == count[1], tag


def test_hints_are_folded_up_and_not_found_by_the_search(built):
    for exercise in catalog.exercises():
        page = (built / "lessons" / exercise.folder / "hints.html").read_text("utf-8")
        known = len(re.findall(r"^\d+\. ", paths.hints(exercise.folder).read_text("utf-8"), re.M))
        assert len(re.findall(r'<details class="tip">', page)) == known > 0
    assert "hints.html" not in (built / "search" / "search_index.json").read_text("utf-8")


def test_no_solution_is_in_it(built):
    """No body of a solution that says more than one line, and nothing of a wrong version's code."""
    everything = "\n".join(text_of(page) for page in some(built.rglob("*.html")))
    everything += (built / "search" / "search_index.json").read_text("utf-8")
    squeezed = re.sub(r"\s+", "", everything)
    bodies, folders = 0, [exercise.folder for exercise in catalog.exercises()]
    sources = [(folder, paths.solution(folder).read_text("utf-8")) for folder in folders]
    known = [mistake for folder in folders for mistake in mistakes.mistakes(folder)]
    for name, source in [*sources, *((mistake.name, mistake.source) for mistake in sample(known, 400))]:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                body = [
                    one for one in node.body if not isinstance(one, ast.Expr) or not isinstance(one.value, ast.Constant)
                ]
                if len(body) > 1:
                    bodies += 1
                    said = re.sub(r"\s+", "", "".join(map(ast.unparse, body)))
                    assert said not in squeezed, f"{name}: {node.name}"
    assert bodies > 200
    names = [str(path.relative_to(built)) for path in some(built.rglob("*"))]
    assert not any(name.endswith(".py") or name.startswith("solutions") for name in names)


def test_no_page_names_an_address_that_it_would_fetch(built):
    fetched = re.compile(r"""<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href)=["']?(https?:)?//""")
    for page in some(built.rglob("*.html")):
        found = [match[0] for match in fetched.finditer(page.read_text("utf-8")) if 'rel="canonical"' not in match[0]]
        assert found == [], page


def test_every_page_loads_without_a_request_outside(built, address, chromium):
    context = chromium.new_context()
    requests, troubles, failed = [], [], []
    context.on("request", lambda request: requests.append(request.url))
    context.on("requestfailed", lambda request: failed.append(request.failure))
    context.on("response", lambda response: troubles.append(response.url) if response.status >= 400 else None)
    tab = context.new_page()
    tab.on("pageerror", lambda error: troubles.append(str(error)))
    every = some(built.rglob("*.html"))
    assert len(every) > 2 * len(catalog.exercises())
    for page in sample(every, 6):  # what each of them would fetch is read above
        tab.goto(f"{address}/{page.relative_to(built).as_posix()}", wait_until="load")
    tab.wait_for_load_state("networkidle")
    assert [url for url in requests if not url.startswith(address)] == []
    assert troubles == []
    assert set(failed) <= {"net::ERR_ABORTED"}  # what a page still asked for when the next one was opened
    context.close()


def test_a_lessons_figure_is_drawn_under_its_first_paragraph(built, chromium):
    """From a disk, in the theme: drawn at once, in its light and its dark, and nothing moves."""
    page = chromium.new_page()
    page.add_init_script(
        """window.shift = 0; new PerformanceObserver(list => { for (const one of list.getEntries())
        for (const source of one.sources) if (source.node?.closest?.('article')) shift += one.value; })
        .observe({type: 'layout-shift', buffered: true});"""
    )
    slow = threading.Event()  # never set: a script that takes a while to come
    page.route("**/figures/*.js", lambda route: (slow.wait(0.15), route.continue_()))
    for folder in sample(some(pages.with_figure()), 3):
        page.goto((built / "lessons" / folder / "index.html").as_uri())
        figure = page.locator("article > p + figure.kata-figure")
        assert figure.locator(".kata-live .kata-title").is_visible(), folder
        assert page.evaluate("shift") == 0, folder
    colours = set()
    for scheme in ("default", "slate"):
        page.evaluate("scheme => { document.body.dataset.mdColorScheme = scheme; }", scheme)
        colours.add(figure.evaluate("one => getComputedStyle(one).backgroundColor"))
    assert len(colours) == 2
    page.close()


@pytest.mark.parametrize("exercise", catalog.exercises(), ids=lambda exercise: exercise.folder)
def test_the_table_of_an_experiment_has_a_bar_for_each_row(built, exercise):
    page = (built / "lessons" / exercise.folder / "index.html").read_text("utf-8")
    table = page.split('<table class="experiment"')[1].split("</table>")[0]
    lesson = paths.lesson(exercise.folder).read_text("utf-8").split("\n## Experiment\n")[1]
    rows = re.findall(r"^\|.*\|$", lesson.split("\n## ")[0], re.M)[2:]
    widths = [float(width) for width in re.findall(r'<rect[^>]* width="([\d.]+)"', table)]
    assert len(widths) == len(rows) == table.count("</tr>") - 1
    assert max(widths) == 100.0 and min(widths) >= 0  # the largest one fills its place


def test_a_table_without_the_column_of_the_script_is_named():
    folder = catalog.find("06").folder
    table = "<table><tr><th>d_k</th></tr><tr><td>1</td></tr></table>"
    with pytest.raises(ValueError, match="no column 'largest weight, raw'"):
        pages.with_bars(f'<h2 id="experiment">E</h2>{table}', folder)
    assert pages.with_bars(table, folder) == table  # not the experiment's


@pytest.mark.parametrize("where", ["disk", "server"])
def test_the_search_finds_a_lesson(built, address, chromium, where):
    context = chromium.new_context()
    requests = []
    context.on("request", lambda request: requests.append(request.url))
    tab = context.new_page()
    root = built.as_uri() if where == "disk" else address
    tab.goto(f"{root}/index.html")
    tab.locator(".md-search__input").click()
    tab.keyboard.type("softmax", delay=20)
    found = tab.locator(".md-search-result__link")
    found.first.wait_for(timeout=30_000)
    assert "02_softmax_naive" in found.first.get_attribute("href")
    assert [url for url in requests if not url.startswith((root, "blob:", "about:", "data:"))] == []
    context.close()


def test_formulas_are_shown_without_a_script(built, chromium):
    context = chromium.new_context(java_script_enabled=False)
    tab = context.new_page()
    folder = next(exercise.folder for exercise in catalog.exercises() if exercise.number == 6)
    tab.goto((built / "lessons" / folder / "index.html").as_uri())
    fraction = tab.locator(".formula mfrac").first
    over, under = (fraction.locator("> *").nth(i).bounding_box() for i in (0, 1))
    assert over["y"] + over["height"] <= under["y"] + 2  # one above the other: it is laid out, not only text
    context.close()


def test_every_sign_of_a_formula_comes_from_the_font_of_the_site(built, chromium):
    """The browser is asked which font it drew each with: on a computer without a font for formulas they are right."""
    from grader.integrations.site import hook

    if hook.font_file() is None:
        pytest.skip("ziamath, whose font is taken, is not installed (extra docs)")
    tab, drawn = chromium.new_page(), set()
    devtools = tab.context.new_cdp_session(tab)
    for lesson in sample(some((built / "lessons").glob("*/index.html")), 6):
        tab.goto(lesson.as_uri())
        tab.evaluate(ONE_OF_EACH_SIGN)
        devtools.send("DOM.enable")
        devtools.send("CSS.enable")
        root = devtools.send("DOM.getDocument", {"depth": 1})["root"]["nodeId"]
        signs = {"nodeId": root, "selector": "math [data-sign]"}
        for node in devtools.send("DOM.querySelectorAll", signs)["nodeIds"]:
            fonts = devtools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
            drawn |= {(font["familyName"], font["isCustomFont"]) for font in fonts}
    tab.close()
    assert drawn == {("STIX Two Math", True)}


def test_the_font_keeps_its_copyright_and_licence(built):
    from grader.integrations.site import hook

    if hook.font_file() is None:
        pytest.skip("ziamath, whose font is taken, is not installed (extra docs)")
    from fontTools.ttLib import TTFont

    font = TTFont(built / "assets" / hook.FONT)
    said = [font["name"].getDebugName(number) for number in (0, 13)]
    assert "STIX Fonts Project Authors" in said[0] and "SIL Open Font License, Version 1.1" in said[1]
    assert "MATH" in font  # what fractions and roots are laid out by


def test_a_page_weighs_at_most_300_kb_before_somebody_searches(address, built, chromium):
    """What a server sends, in gzip: the page, its figure, styles, scripts and the font."""
    weights = {}
    weigh = functools.cache(lambda file: len(gzip.compress(file.read_bytes())))
    lessons = some((built / "lessons").glob("*/index.html"))
    of_its_own = {one: weigh(one) + weigh(built / "assets/figures" / f"{one.parent.name}.js") for one in lessons}
    lessons = sorted(lessons, key=of_its_own.__getitem__)
    for lesson in lessons if THOROUGH else (lessons[0], *lessons[-3:]):  # what else they fetch is the same
        tab, asked = chromium.new_page(), set()
        tab.on("request", lambda request, asked=asked: asked.add(request.url))
        name = f"lessons/{lesson.parent.name}/index.html"
        tab.goto(f"{address}/{name}", wait_until="load")
        files = [built / url.removeprefix(f"{address}/").partition("?")[0] for url in asked if url.startswith(address)]
        weights[name] = sum(map(weigh, files)) / 1000
        tab.close()
    assert {name: weight for name, weight in weights.items() if not 100 < weight <= 300} == {}


def test_a_link_that_leads_nowhere_becomes_a_name(tmp_path):
    places = {(tmp_path / "docs/known.md").resolve(): "known.md"}
    text = "[a](../docs/known.md#part) [`b.py`](b.py) [c](c.md) `[d](d.md)` [e](https://example.com)"
    got = pages.link(text, tmp_path / "docs" / "page.md", "deep/page.md", places)
    assert got == "[a](../known.md#part) `b.py` `c` `[d](d.md)` [e](https://example.com)"


def test_a_formula_that_cannot_be_read_is_named():
    from mkdocs.exceptions import PluginError

    from grader.integrations.site.pages import with_mathml

    with pytest.raises(PluginError, match=r"page\.md: the formula .*nosuch"):
        with_mathml(r'<span class="arithmatex">\(\nosuch{x}\)</span>', "page.md")


def test_a_folder_of_somebody_elses_is_not_removed(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    command = [sys.executable, "-m", "grader", "docs", "--output", str(tmp_path)]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2 and "not empty" in done.stderr
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_lesson_can_be_opened_with_a_click_where_the_site_is_of_a_repository():
    text = pages.with_badges(
        "# 03 Context vectors\n\nThe lesson.\n", "https://github.com/ada/kata", "03_context_vectors"
    )
    assert text.startswith("# 03 Context vectors\n\n<a ") and text.endswith("</a>\n\nThe lesson.\n")
    assert 'href="https://codespaces.new/ada/kata?quickstart=1"' in text
    notebook = "https://colab.research.google.com/github/ada/kata/blob/notebooks/03_context_vectors.ipynb"
    assert f'href="{notebook}"' in text
    assert pages.with_badges("# 03\n", "https://…", "03_context_vectors") == "# 03\n"  # nobody knows where it is
