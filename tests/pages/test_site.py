"""The site of the lessons: built for real, read by a real browser, without a network."""

import ast
import functools
import html
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from globs import some
from thorough import sample

from grader import catalog
from grader.catalog import mistakes, paths
from grader.desk import formulas
from grader.integrations.site import hook

pytestmark = pytest.mark.slow

for name in ("material", "ziamath"):
    pytest.importorskip(name, reason=f"{name} is not installed (extra docs)")

TEXT = re.compile(r"\\text\{([^{}]*)\}")
# What is wrong on a page at its width: each root is wider than what it holds, no formula is left as LaTeX, none is cut.
LOOK = """() => {
  const wrong = [], right = one => one.getBoundingClientRect().right;
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is too wide');
  for (const root of document.querySelectorAll('msqrt')) {
    const held = [...root.children].reduce((sum, one) => sum + one.getBoundingClientRect().width, 0);
    if (root.getBoundingClientRect().width < held + 4) wrong.push(`no root above ${root.textContent}`);
  }
  for (const one of document.querySelectorAll('article math')) {
    if (one.closest('table')) continue; // which scrolls
    const column = one.closest('.formula, p, li, summary');
    if (right(one) > Math.min(right(column), innerWidth) + 1) wrong.push(`${one.textContent} is cut`);
  }
  const walker = document.createTreeWalker(document.querySelector('article'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (/[$\\ue000-\\uf8ff]/.test(node.textContent) && !node.parentElement.closest('code, pre, script, .headerlink'))
      wrong.push(node.textContent);
  }
  return wrong;
}"""
FONT = """() => { // once all that is folded is open: it may hold the only formula
  for (const one of document.querySelectorAll('article details')) one.open = true;
  document.body.getBoundingClientRect();
  return document.fonts.ready.then(() => [...document.fonts].filter(one => one.family.includes('Lesson Math'))
    .map(one => one.status));
}"""


@pytest.fixture(scope="module")
def served(built) -> Iterator[str]:
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(built))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("exercise", sample(catalog.exercises(), 3), ids=lambda exercise: exercise.folder)
def test_every_formula_of_a_lesson_is_whole_on_a_desk_and_on_a_phone(served, tab, exercise):
    page = tab.load(f"{served}/lessons/{exercise.folder}/index.html")
    assert page.evaluate(FONT) == ["loaded"]
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(LOOK) == [], width
    said = page.locator("article").inner_text()
    source = formulas.take_out(paths.lesson(exercise.folder).read_text("utf-8"))[1]
    words = {word for _, latex in source for text in TEXT.findall(latex) for word in text.split()}
    assert {word for word in words if word not in said} == set()
    assert not [url for url in tab.requests if not url.startswith((served, "data:"))] and not tab.complaints


def test_a_lesson_is_whole(built):
    """Code, tables and lists are as many as GitHub shows; the answers are within the questions, the figure below."""
    markdown = pytest.importorskip("markdown_it")
    for exercise in catalog.exercises():
        source = paths.lesson(exercise.folder).read_text("utf-8")
        page = (built / "lessons" / exercise.folder / "index.html").read_text("utf-8")
        body = page.split('<article class="md-content__inner md-typeset">')[1].split("</article>")[0]
        assert body.index("Before you start") < body.index('<figure class="kata-figure"')
        body = re.sub('<figure class="kata-figure".*?</figure>', "", body, flags=re.S)
        plain = markdown.MarkdownIt("commonmark").enable("table").render(formulas.take_out(source)[0])
        box = body.split("<summary>Before you start")[1].split("</details>\n</details>")[0]
        assert "<summary>The three answers</summary>" in box, exercise.folder
        for tag in ("h1", "h2", "h3", "pre", "table", "tr", "ol", "ul", "li", "blockquote"):
            got, expected = (len(re.findall(rf"<{tag}[ >]", part)) for part in (body, plain))
            assert got == expected, (exercise.folder, tag)


def test_the_menu_has_the_lessons_in_order_and_the_problems_after_their_path(built):
    page = (built / "index.html").read_text("utf-8")
    menu = page.split('<nav class="md-nav md-nav--primary')[1].split("</nav>\n\n")[0]
    linked = list(dict.fromkeys(re.findall(r'href="lessons/([^/"]+)/index.html"', menu)))
    assert linked == [exercise.folder for exercise in catalog.exercises()]
    problems = dict.fromkeys(re.findall(r'href="lessons/([^/"]+)/problems.html"', menu))
    ends = [path.numbers[-1] for path in catalog.learning_paths() if not path.warm_up]
    assert [folder[:2] for folder in problems] == ends
    for folder in problems:
        assert menu.index(f"lessons/{folder}/index.html") < menu.index(f"lessons/{folder}/problems.html")
        article = (built / "lessons" / folder / "problems.html").read_text("utf-8").split("<article")[1]
        assert article.count("<details") == 5 and "$" not in article and "kata-figure" not in article


def test_the_search_finds_a_lesson(served, tab):
    page = tab.load(f"{served}/index.html")
    page.locator(".md-search__input").click()
    page.keyboard.type("softmax", delay=20)
    found = page.locator(".md-search-result__link")
    found.first.wait_for(timeout=30_000)
    assert "softmax" in found.first.get_attribute("href")


def test_hints_are_folded_up_and_not_found_by_the_search(built):
    for exercise in catalog.exercises():
        page = (built / "lessons" / exercise.folder / "hints.html").read_text("utf-8")
        known = len(re.findall(r"^\d+\. ", paths.hints(exercise.folder).read_text("utf-8"), re.M))
        assert len(re.findall(r'<details class="tip">', page)) == known > 0 and "$" not in page.split("<article")[1]
    assert "hints.html" not in (built / "search" / "search_index.json").read_text("utf-8")


def test_no_solution_is_in_it(built):
    """No body of a solution that says more than one line, and nothing of a wrong version's code."""
    pages = "\n".join(page.read_text("utf-8") for page in some(built.rglob("*.html")))
    everything = html.unescape(re.sub(r"<[^>]+>", "", pages)) + (built / "search/search_index.json").read_text("utf-8")
    squeezed = re.sub(r"\s+", "", everything)
    bodies, folders = 0, [exercise.folder for exercise in catalog.exercises()]
    sources = [(folder, paths.solution(folder).read_text("utf-8")) for folder in folders]
    known = [mistake for folder in folders for mistake in mistakes.mistakes(folder)]
    for name, source in [*sources, *((mistake.name, mistake.source) for mistake in sample(known, 60))]:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                if len(body) > 1:
                    bodies += 1
                    said = re.sub(r"\s+", "", "".join(map(ast.unparse, body)))
                    assert said not in squeezed, f"{name}: {node.name}"
    assert bodies > 100
    names = [str(path.relative_to(built)) for path in some(built.rglob("*"))]
    assert not any(name.endswith(".py") or name.startswith("solutions") for name in names)


def test_no_page_names_an_address_that_it_would_fetch(built):
    fetched = re.compile(r"""<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href)=["']?(https?:)?//""")
    for page in some(built.rglob("*.html")):
        found = [match[0] for match in fetched.finditer(page.read_text("utf-8")) if 'rel="canonical"' not in match[0]]
        assert found == [], page


def test_a_link_that_leads_nowhere_becomes_a_name(tmp_path):
    places = {(tmp_path / "docs/known.md").resolve(): "known.md"}
    text = "[a](../docs/known.md#part) [`b.py`](b.py) [c](c.md) `[d](d.md)` [e](https://example.com)"
    got = hook.markdown_of(text, tmp_path / "docs" / "page.md", "deep/page.md", places)
    assert got == "[a](../known.md#part) `b.py` `c` `[d](d.md)` [e](https://example.com)"


def test_a_folder_of_somebody_elses_is_not_removed(said, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    done = said("docs", "--output", tmp_path)
    assert done.returncode == 2 and "not empty" in done.stderr
    assert (tmp_path / "mine.txt").read_text() == "mine"
