"""class.html in a real browser, with a thousand made-up students: what it shows agrees with the results."""

import math
import re
import statistics
from collections import Counter
from dataclasses import replace
from datetime import datetime, timezone

import pytest
from browser import CONTRASTS
from made_up_class import HOSTILE, folders, made_up, result_of, results, stream, students
from thorough import THOROUGH

from grader import catalog
from grader.classroom.analysis import Choice, week_of
from grader.classroom.handins import Class, Student
from grader.classroom.marking import Mark, Override
from grader.classroom.outputs import write
from grader.classroom.pages.class_page import class_page, render
from grader.classroom.similar import Agreement, Lines, Pair
from grader.classroom.summary import Past, Run, Summary
from grader.records.results import ERROR, FAILED, NOT_CHECKED, PASSED

MANY = 2000 if THOROUGH else 1020
PAGES = math.ceil(MANY / 50)
CODE = ("<script>window.stolen = 5</script>", "total = 0\nfor x in xs:")
LABELS = "all => all.map(chart => chart.getAttribute('aria-label'))"
WIDTHS = (390, 820, 1280)

# A function of JavaScript: the words in cells of tables that are not on one line.
BROKEN_WORDS = """() => {
  const broken = [], range = document.createRange();
  for (const cell of document.querySelectorAll('th, td')) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      for (const word of walker.currentNode.data.matchAll(/[\\p{L}\\p{N}.,]+/gu)) {
        range.setStart(walker.currentNode, word.index);
        range.setEnd(walker.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) broken.push(word[0]);
      }
    }
  }
  return broken;
}"""


@pytest.fixture(scope="module")
def klass() -> Class:
    return made_up(MANY)


@pytest.fixture(scope="module")
def text(klass) -> str:
    a, b, c = klass.students[8], klass.students[9], klass.students[0]
    same = Agreement(Lines(2, 2), Lines(3, 4), CODE)
    pairs = (
        Pair(a, b, folders()[2], 0.914, (same,), 12.0, 20.0),
        Pair(a, b, folders()[5], 0.62, (), 8.0, 20.0),
        Pair(a, c, folders()[5], 1.0, (), 19.0, 19.0),
    )
    runs = [Run(datetime(2026, 11, day, 9, tzinfo=timezone.utc), MANY, 700 * day) for day in (2, 9, 16)]
    return render(Summary.of(klass), pairs, past=Past(runs=runs)).text


@pytest.fixture(scope="module")
def path(text, tmp_path_factory):
    """class.html. Not to be changed."""
    path = tmp_path_factory.mktemp("page") / "class.html"
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def page(tab, path):
    """The page, loaded again. At the end: nothing left it, nothing was complained of, no name ran."""
    yield tab.load(path)
    assert tab.page.evaluate("window.stolen") is None
    assert tab.complaints == []
    assert {url.partition("#")[0] for url in tab.requests} == {path.as_uri()}


def rows(page) -> list[list[str]]:
    """The rows that are drawn: the cells' texts."""
    return page.eval_on_selector_all("#table tbody tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))")


def count(page) -> str:
    return page.text_content("#count")


def total(klass: Class, student: Student) -> float:
    return sum(result.points for result in klass.of(student))


def state(result) -> str:
    if result is None:
        return "-"
    if result.status == ERROR:
        return "e"
    return ("p" if result.status == PASSED else "f") if result.started else "n"


def test_the_table_shows_every_students_points(page, klass):
    shown = rows(page)
    assert len(shown) == 50 and count(page) == f"{MANY:,} students"
    assert page.text_content("#page") == f"Page 1 of {PAGES}"
    page.click("#last")
    shown += rows(page)
    words = {"e": "error", "n": "stub", "-": "–"}
    for student, cells in zip([*klass.students[:50], *klass.students[50 * (PAGES - 1) :]], shown, strict=True):
        found = [klass.results.get((student.id, folder)) for folder in klass.exercises]
        expected = [words.get(state(result)) or f"{result.points:g}" for result in found]
        assert cells[0] == student.id
        assert cells[2:] == [f"{total(klass, student):g}", *expected]


def test_a_click_on_a_heading_sorts_both_ways_and_what_is_absent_comes_last(page, klass):
    page.click("[data-sort=total]")
    ordered = sorted(klass.students, key=lambda student: (total(klass, student), student.id))
    assert [cells[0] for cells in rows(page)] == [student.id for student in ordered[:50]]
    assert page.get_attribute("th[aria-sort]", "aria-sort") == "ascending"
    page.click("[data-sort=total]")
    ordered = sorted(klass.students, key=lambda student: (-total(klass, student), student.id))
    assert [cells[0] for cells in rows(page)] == [student.id for student in ordered[:50]]
    assert page.get_attribute("th[aria-sort]", "aria-sort") == "descending"

    folder = klass.exercises[4]
    column = [klass.results.get((student.id, folder)) for student in klass.students]
    have = sorted((result.points for result in column if result), reverse=True)
    page.click("[data-sort=e4]")
    page.click("[data-sort=e4]")
    assert [number(cells[7]) for cells in rows(page)] == have[:50]
    page.click("#last")
    assert {cells[7] for cells in rows(page)} == {"–"}


def test_filters_by_name_exercise_state_and_mistake_agree_with_the_results(page, klass):
    page.fill("#text", "STUDENT 0012")
    assert [cells[1] for cells in rows(page)] == [f"Student 0012{digit}" for digit in range(10)]
    assert count(page) == f"10 of {MANY:,} students"
    page.click("[type=reset]")
    assert count(page) == f"{MANY:,} students"

    folder = klass.exercises[7]
    states = Counter(state(klass.results.get((student.id, folder))) for student in klass.students)
    page.select_option("#exercise", "7")
    assert count(page) == f"{MANY - states['-']:,} of {MANY:,} students"
    for letter in "pfen-":
        page.select_option("#state", letter)
        assert count(page) == f"{states[letter]:,} of {MANY:,} students"

    page.click("[type=reset]")
    item = page.text_content("#mistakes ~ ol li >> nth=0")
    said = re.match(r"\s*show them\s+([\d,]+) of ([\d,]+) in (\d\d) [^:]+: (.+?)$", item)
    folder = next(folder for folder in klass.exercises if folder.startswith(said[3]))
    having = [
        student
        for student in klass.students
        if (result := klass.results.get((student.id, folder)))
        and any(check.diagnosis == said[4] for check in result.checks)
    ]
    assert said[1] == f"{len(having):,}"
    assert said[2] == f"{sum((student.id, folder) in klass.results for student in klass.students):,}"
    page.click("#mistakes ~ ol li >> nth=0 >> button")
    assert count(page) == f"{len(having):,} of {MANY:,} students"
    assert [cells[0] for cells in rows(page)] == [student.id for student in having[:50]]
    assert page.evaluate("document.activeElement.id") == "students"


def test_the_students_to_look_after_are_those_of_the_results(page, klass):
    groups = page.eval_on_selector_all("#look-after + ul > li", "all => all.map(l => l.innerText)")
    counts = {re.sub(r"^[\d,]+ ", "", text).partition("\nshow")[0]: text.partition(" ")[0] for text in groups}
    of = {student: [state(klass.results.get((student.id, f))) for f in klass.exercises] for student in klass.students}
    nothing = [student for student in klass.students if set(of[student]) == {"-"}]
    totals = {student: total(klass, student) for student in klass.students if student not in nothing}
    median = statistics.median(totals.values())
    below = [student for student, points in totals.items() if points < median / 2]
    assert counts == {
        "handed in nothing": f"{len(nothing):,}",
        "handed in a file that could not be loaded": f"{sum('e' in states for states in of.values()):,}",
        "handed in a file that is not begun": f"{sum('n' in states for states in of.values()):,}",
        f"far below the class: less than half of the median of {median:g} points": f"{len(below):,}",
    }
    page.click("#look-after + ul button >> nth=0")
    assert [cells[0] for cells in rows(page)] == [student.id for student in nothing[:50]]


def test_the_darkest_cells_are_those_with_all_points(page, klass):
    """The shade of a cell is the share of the points that its exercise gives, and words have contrast on it."""
    shades = page.evaluate(
        """() => [...document.querySelectorAll('#table tbody tr')].map(row => [...row.querySelectorAll('td.number')]
          .slice(1).map(cell => [parseFloat(cell.textContent), cell.style.getPropertyValue('--share')]))"""
    )
    most = [catalog.find(folder).max_points for folder in klass.exercises]
    compared = [(text, shade, of) for row in shades for (text, shade), of in zip(row, most) if text > 0]
    assert len(compared) > 100
    for points, shade, of in compared:
        assert float(shade.removesuffix("%")) == pytest.approx(100 * points / of, abs=0.6)


def test_histograms_and_hardest_checks_agree_with_the_results(page, klass):
    spoken = page.eval_on_selector_all("#exercises + * svg.histogram", LABELS)
    assert len(spoken) == len(klass.exercises)
    for folder, words in zip(klass.exercises, spoken):
        most = catalog.find(folder).max_points
        found = [result.points for (_, exercise), result in klass.results.items() if exercise == folder]
        said = {name: int(students) for name, students in re.findall(r"(\d+ to \d+ %|all points): (\d+)", words)}
        assert sum(said.values()) == len(found)
        assert said["all points"] == sum(points == most for points in found)
        assert said["50 to 59 %"] == sum(0.5 <= points / most < 0.6 for points in found)
    whole = [
        total(klass, student) for student in klass.students if any((student.id, f) in klass.results for f in folders())
    ]
    [words] = page.eval_on_selector_all("#totals + * svg.histogram", LABELS)
    most = sum(catalog.find(folder).max_points for folder in klass.exercises)
    said = {name: int(students) for name, students in re.findall(r"(\d+ to \d+ %|all points): (\d+)", words)}
    assert sum(said.values()) == len(whole)
    assert said["60 to 69 %"] == sum(0.6 <= points / most < 0.7 for points in whole)
    figures = page.eval_on_selector_all("#totals + * td", "all => all.map(cell => cell.textContent)")
    assert figures[0] == f"{statistics.fmean(whole):.1f}" and figures[2] == f"{statistics.median(whole):.1f}"
    hardest = page.eval_on_selector("#checks ~ .scroll tbody tr", "row => [...row.cells].map(c => c.textContent)")
    outcomes: dict = {}
    for result in klass.results.values():
        if result.started and result.status != ERROR:
            for check in result.checks:
                outcomes.setdefault((result.exercise, check.title), []).append(check.outcome)
    shares = {key: all_.count(FAILED) / (all_.count(FAILED) + all_.count(PASSED)) for key, all_ in outcomes.items()}
    (folder, title), share = max(shares.items(), key=lambda entry: entry[1])
    counts = [outcomes[folder, title].count(outcome) for outcome in (FAILED, PASSED, NOT_CHECKED)]
    assert hardest == [folder[:2], title, f"{counts[0]:,} ({100 * share:.0f} %)", *map("{:,}".format, counts[1:])]


def test_names_are_texts_and_nothing_else(page):
    shown = [cells[1] for cells in rows(page)]
    assert shown[:3] == list(HOSTILE[:3])
    assert "\\u202egnihton\\u202c" in shown
    assert page.eval_on_selector_all("body script:not([type])", "all => all.length") == 1
    assert page.eval_on_selector_all("main img, main svg[onload], main iframe", "all => all.length") == 0
    assert page.eval_on_selector_all("#students ~ #pairs ~ ol.groups > li", "all => all.length") == 1
    pairs = page.eval_on_selector_all("#pairs ~ ol.groups li.pair", "all => all.map(l => l.innerText.split('\\n'))")
    assert [lines[0] for lines in pairs] == ["Student 00008 and Student 00009", f"Student 00008 and {HOSTILE[0]}"]
    assert pairs[0][1].startswith("91% in 03 ") and pairs[0][1].endswith("line 2 of the one, lines 3 to 4 of the other")
    assert pairs[1][1].startswith("100% in 06 ")
    page.click("li.pair summary")
    assert page.eval_on_selector_all("li.pair pre", "all => all.map(p => p.textContent)") == list(CODE)


def test_the_keyboard_is_enough(page):
    page.keyboard.press("/")
    page.keyboard.type("student 00042")
    assert len(rows(page)) == 1
    page.focus("[data-sort=total]")
    page.keyboard.press("Enter")
    assert page.get_attribute("th[aria-sort]", "aria-sort") == "ascending"
    assert page.evaluate("document.activeElement.dataset.sort") == "total"  # the focus is not lost
    page.click("[type=reset]")
    page.focus("#next")
    page.keyboard.press("Space")
    assert page.text_content("#page") == f"Page 2 of {PAGES}"


def test_the_list_is_still_there_on_the_way_back(page):
    page.fill("#text", "student 000")
    page.click("[data-sort=total]")
    page.click("#next")
    before = rows(page)
    page.goto("about:blank")
    page.go_back()
    assert page.text_content("#page").startswith("Page 2 ")
    assert rows(page) == before


def test_print_has_every_row_and_the_screen_few(page):
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.eval_on_selector_all("#table tbody tr", "rows => rows.length") == MANY
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(rows(page)) == 50
    page.emulate_media(media="print")
    assert not page.is_visible("#filters") and page.is_visible("#table")


def test_a_topic_lists_the_students_who_showed_it(page, klass):
    first = page.text_content("#teach ~ ol > li >> nth=0")
    said = int(re.match(r"\s*([\d,]+) students?: ", first)[1].replace(",", ""))
    page.click("#teach ~ ol > li >> nth=0 >> button")
    assert count(page) == f"{said:,} of {MANY:,} students"
    shown = page.eval_on_selector_all("#help + p + ol > li", "all => all.map(l => l.innerText)")
    assert len(shown) == 20
    assert all(re.search(r": .*(the median is|not begun)", words) for words in shown)


def test_three_widths_in_light_and_dark_break_no_word_and_have_contrast(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed (extra dev)").Axe()
    page.eval_on_selector_all("main details", "all => all.forEach(one => { one.open = true; })")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        assert page.evaluate(BROKEN_WORDS) == [], width
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        if scheme == "light" or THOROUGH:  # but for contrast, at which CONTRASTS looks too, colours change no finding
            violations = axe.run(page).response["violations"]
            assert [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in violations] == [], scheme
        faint = page.evaluate(CONTRASTS)  # of texts in SVG too, at which axe does not look
        assert faint
        assert [one for one in faint if one["ratio"] < 4.5][:5] == [], scheme


def test_what_each_run_added(page):
    cells = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    found = page.eval_on_selector_all("#runs + .scroll tbody tr", cells)
    many = f"{MANY:,}"
    assert found == [
        ["2026-11-02 09:00", many, "1,400", "+1,400"],
        ["2026-11-09 09:00", many, "6,300", "+4,900"],
        ["2026-11-16 09:00", many, "11,200", "+4,900"],
    ]


def test_the_table_of_runs_fits_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 700})
    assert page.eval_on_selector("#runs + .scroll", "one => one.scrollWidth <= one.clientWidth")


def test_a_part_of_the_term_stands_beside_the_whole(tab, klass, tmp_path):
    """Two exercises, of every third student: what the page says of them, and that it fits a phone."""
    chosen = klass.exercises[2:4]
    handins = {key for number, key in enumerate(sorted(klass.results)) if key[1] in chosen and number % 3 == 0}
    week = week_of(Summary.of(klass), Choice("new since the run before", chosen, handins))
    (tmp_path / "class.html").write_text(render(Summary.of(klass), week=week).text, "utf-8")
    page = tab.load(tmp_path / "class.html")
    assert page.eval_on_selector_all("h3", "all => all.map(one => one.textContent)") == 3 * [
        "This time: new since the run before", "The whole term",
    ]  # fmt: skip
    assert page.text_content("#teach ~ p").startswith(f"{len(handins)} hand-ins of {chosen[0][:2]} ")
    first = page.eval_on_selector("#checks ~ .scroll tbody tr", "row => [...row.cells].map(c => c.textContent)")
    outcomes: dict = {}
    for key in handins:
        result = klass.results[key]
        if result.started and result.status != ERROR:
            for check in result.checks:
                outcomes.setdefault((result.exercise[:2], check.title), []).append(check.outcome)
    shares = {
        key: all_.count(FAILED) / (all_.count(FAILED) + all_.count(PASSED))
        for key, all_ in outcomes.items()
        if all_.count(FAILED) + all_.count(PASSED) >= 5
    }
    key = first[0], first[1]
    assert shares[key] == max(shares.values()) and first[2].endswith(f"({100 * shares[key]:.0f} %)")
    page.set_viewport_size({"width": 390, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.complaints == []


def test_each_entry_of_the_list_of_sections_leads_to_one(page):
    lost = "all => all.map(a => a.hash).filter(hash => !document.querySelector(hash))"
    assert page.eval_on_selector_all("nav a[href^='#']", lost) == []
    assert {"#teach", "#help", "#runs", "#errors"} <= set(
        page.eval_on_selector_all("nav a", "all => all.map(a => a.hash)")
    )


def test_it_fits_a_phone_and_follows_the_colours_of_the_system(page):
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    grounds = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        grounds.add(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
    assert len(grounds) == 2


def test_links_lead_to_the_students_pages(tab, tmp_path):
    exercises = folders(2)
    odd = Student("José +x@y.example", "José")
    write(tmp_path, [*stream(8, exercises), (odd, [result_of(exercises[0])])], exercises)
    page = tab.load(tmp_path / "class.html")
    for name in ("s00000", "s00007", odd.id):
        page.click(f"#table tbody th a >> text={name}")
        page.wait_for_selector("text=Your results")
        assert name in page.text_content("main")
        page.go_back()


def test_an_anchor_leads_to_its_section(page):
    page.goto(f"{page.url}#students")
    page.reload()
    assert page.url.endswith("#students")
    page.wait_for_function("document.getElementById('students').getBoundingClientRect().top < innerHeight")


# What needs no browser.


def number(cell: str) -> float:
    return 0.0 if cell in ("error", "stub") else float(cell)


def test_the_page_is_a_function_of_the_class_alone():
    klass = made_up(100)
    turned = Class(klass.students[::-1], klass.exercises, dict(reversed(klass.results.items())))
    assert class_page(turned) == class_page(klass)


def test_a_class_of_nobody_and_a_class_that_handed_in_nothing_have_a_page():
    assert "Nobody" in class_page(Class((), folders(2)))
    whole = tuple(students(3))
    assert "<strong>3</strong> handed in nothing" in class_page(Class(whole, folders(2)))


def test_names_cannot_end_the_data(text):
    data = text.partition('id="data">')[2].partition("</script>")[0]
    assert not re.search("[<>&]", data)


def test_what_the_grader_could_not_do_is_shown(tmp_path):
    exercises = folders(2)
    ada = Student("ada")
    summary = write(
        tmp_path, [(ada, results(ada, exercises))], exercises, ungraded={("ada", exercises[1]): "the worker died"}
    )
    assert summary.rows[0].states[1] == "u" and summary.rows[0].total is None
    text = (tmp_path / "class.html").read_text("utf-8")
    assert "<strong>1</strong> not graded: see the reasons below" in text
    assert "not graded: the worker died" in text


def test_points_set_by_hand_are_in_the_table_whatever_the_file_was(tab, tmp_path):
    folder = folders(1)[0]
    broken = replace(result_of(folder), status=ERROR, checks=())
    summary = Summary([folder])
    override = Override("s1", folder, "", 3.0, "oral exam", "me")
    mark = Mark(folder, 0.0, 3.0, result=broken, overrides=(override,))
    summary.add(Student("s1"), [broken], marks={folder: mark})
    summary.add(Student("s2"), [broken])
    path = tmp_path / "class.html"
    path.write_text(render(summary).text, "utf-8")
    page = tab.load(path)
    cells = page.locator("#table tbody tr td:last-child")
    assert cells.all_inner_texts() == ["3 ✎", "error"]
    assert "set by hand" in cells.first.locator("abbr").get_attribute("title")


@pytest.fixture(scope="module")
def large(klass, tmp_path_factory):
    """The page with most of its rows beside it. Not to be changed."""
    root = tmp_path_factory.mktemp("large")
    made = render(Summary.of(klass), most_rows=30_000)
    (root / "class_rows").mkdir()
    for number, part in enumerate(made.parts, 1):
        (root / "class_rows" / f"{number}.js").write_text(part, "utf-8")
    (root / "class.html").write_text(made.text, "utf-8")
    return root / "class.html"


def test_a_large_class_has_its_other_rows_beside_the_page(tab, large, klass):
    page = tab.load(large)
    page.wait_for_function("document.getElementById('count').textContent.endsWith(' students')")
    assert count(page) == f"{MANY:,} students" and page.text_content("#page") == f"Page 1 of {PAGES}"
    page.click("#last")
    assert [cells[0] for cells in rows(page)] == [student.id for student in klass.students[50 * (PAGES - 1) :]]
    page.fill("#text", klass.students[-1].id)
    assert [cells[0] for cells in rows(page)] == [klass.students[-1].id]
    assert page.evaluate("window.stolen") is None and tab.complaints == []
    assert {url.partition("#")[0].rpartition("/")[2] for url in tab.requests} >= {"class.html", "1.js"}


def test_a_large_page_without_its_rows_says_so(tab, large, tmp_path):
    (tmp_path / "class.html").write_text(large.read_text("utf-8"), "utf-8")
    page = tab.load(tmp_path / "class.html")
    page.wait_for_function("document.getElementById('count').textContent.includes('missing')")
    words = rf"\d+ of {MANY:,} students · the others are missing: the folder class_rows must lie beside this page"
    assert re.fullmatch(words, count(page)) and len(rows(page)) == 50
