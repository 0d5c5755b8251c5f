"""The templates of the pages: what a student chose is text on every page, and templates go where they are needed."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import jinja2
import pytest
from globs import some

from grader import catalog
from grader.catalog import paths
from grader.catalog.project import read_toml
from grader.classroom import feedback
from grader.classroom.class_page import class_page
from grader.classroom.marks import HandIn, Mark, Origin, Student
from grader.classroom.summary import Summary
from grader.integrations.notebook import display
from grader.judge.pictures import Picture
from grader.records.results import CheckResult, ExerciseResult
from grader.reports import templating
from grader.reports.html import verdict

EXERCISES = tuple(exercise.folder for exercise in catalog.for_class()[:3])
TEMPLATES = [path.relative_to(paths.GRADER).as_posix() for path in some(paths.GRADER.rglob("templates/*.html"))]
HOSTILE = (
    "<script>steal()</script>",
    "</script></style></title></textarea><img src=x onerror=steal()>",
    '" onmouseover="steal()" \'',
    "' autofocus onfocus='steal()",
    "x onclick=steal() y=`",
    "--><svg/onload=steal()>]]><!--",
    "{{ 7 * 6 }}{% raw %}{# #}${7*6}",
    "&lt;b&gt; &amp;#60; &",
    "javascript:steal()",
    "\ud800 \udfff",
    "\u202e right to left \u2066 \u200f",
    "\x00 \x1b[31m \x07 \x85 \r",
)


class Structure(HTMLParser):
    """The elements of a page with the names of their attributes, and all its texts and values."""

    def __init__(self, page: str):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, *(name for name, _ in attributes)))
        self.texts += [value or "" for _, value in attributes]

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        self.elements.append(("comment",))


def pages(word: str):
    """Every page, with the word in each place where a student, or a student's code, chooses the text."""
    result = wrong(word)
    one, other = (Student(f"{word}{number}", f"{word} name") for number in range(2))
    handin = HandIn(one, EXERCISES[0], "/in/x.py", origin=Origin(name=word))
    marks = [
        Mark("graded", one, EXERCISES[0], word, points=1.0, handin=handin),
        Mark("needs a person", other, EXERCISES[0], word, word, word),
        Mark("needs a person", None, "", word, word, word),
    ]
    summary = Summary(EXERCISES)
    summary.add(one, marks[:1], [result])
    summary.add(other, marks[1:2], [])
    yield "class", class_page(summary, marks)
    for level in feedback.LEVELS:
        yield f"feedback {level}", feedback.page(result, one, level)
    for level in feedback.LEVELS:
        yield f"verdict {level}", verdict(result, level, result.pictures)
    yield "notebook verdict", display.verdict(result, result.pictures)["html"]
    yield "notebook pictures", display.pictures(catalog.find(EXERCISES[0]), result.pictures)["html"]


def wrong(word: str) -> ExerciseResult:
    checks = (
        CheckResult("a", word, "failed", 0.0, 1.0, word, word, task=1),
        CheckResult("b", word, "not_checked", 0.0, 1.0, word, task=1),
        CheckResult("c", word, "passed", 1.0, 1.0, word, task=1),
    )
    expected, matrix = ((0.25, 0.75), (0.5, 0.5)), ((0.25, float("nan")), (float("inf"), -1.0))
    pictures = (
        Picture(word, (word, f"{word} 2"), (word, word), matrix, expected, word),
        Picture(word, (word, word), (word, word), None, expected, f"{word} again"),
    )
    plain = ExerciseResult(EXERCISES[0], word, word, word, 7, "failed", 0.1, checks, output=word, message=word)
    return replace(plain, notes=(word,), pictures=pictures)


@pytest.fixture(scope="module")
def harmless() -> dict[str, list]:
    return {name: Structure(page).elements for name, page in pages("a plain word")}


@pytest.mark.parametrize("word", HOSTILE)
def test_no_element_or_attribute_comes_from_a_students_text(word, harmless):
    for name, page in pages(word):
        page.encode()  # no lone surrogate
        found = Structure(page)
        assert found.elements == harmless[name], name
        shown = "".join(found.texts)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", shown), name
        if word.isprintable() and name != "class":
            assert word in shown, name  # as it was written: nothing was run, and nothing escaped twice


def test_a_template_cannot_forget_to_escape():
    template = templating.ENVIRONMENT.from_string("<p title='{{ a }}'>{{ a }}{% for b in [a] %}{{ b }}{% endfor %}</p>")
    assert [one for one, *_ in Structure(template.render(a="'><b>\x1b\u202e")).elements] == ["p"]
    with pytest.raises(jinja2.UndefinedError):
        template.render()


def test_code_in_a_sentence_is_the_only_markup_of_it():
    assert templating.code("`a < b` <i>`c`</i>, `") == "<code>a &lt; b</code> &lt;i&gt;<code>c</code>&lt;/i&gt;, `"


def test_markup_is_made_in_few_places_and_escaping_is_switched_off_in_none():
    """Our own style and script, and the pictures drawn by hand: what those hold is looked at above."""
    made = {}
    for path in some(paths.GRADER.rglob("*.py")):
        if count := len(re.findall(r"\bMarkup\((?!\"\\n\"\))", path.read_text("utf-8"))):
            made[path.relative_to(paths.GRADER).as_posix()] = count
    assert made == {
        "reports/templating.py": 3,
        "integrations/lesson_page.py": 1,
        "reports/heatmap.py": 1,
    }
    for name in TEMPLATES:
        text = (paths.GRADER / name).read_text("utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape|\bon[a-z]+=|style=", text), name


def test_an_installed_package_has_them_too():
    (patterns,) = read_toml(paths.ROOT / "pyproject.toml")["tool"]["setuptools"]["package-data"].values()
    shown = [path for path in some(paths.GRADER.rglob("*")) if path.suffix in (".html", ".css", ".js")]
    assert len(shown) > len(TEMPLATES)
    for path in shown:
        assert any(path.match(pattern) for pattern in patterns), path
