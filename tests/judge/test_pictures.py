"""Pictures of attention: right for the solutions, telling for the mistakes, there whatever a learner's code does."""

import io
import itertools
import math
import re
import shutil
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from rich.console import Console
from sources import mistake
from thorough import sample

from grader import catalog
from grader.catalog import paths
from grader.integrations.notebook import display
from grader.judge import capture
from grader.judge.capture import capture_pictures
from grader.judge.pictures import Picture
from grader.records import submission
from grader.records.submission import Submission
from grader.reports import heatmap

pytestmark = pytest.mark.slow

DRAWN = [exercise for exercise in catalog.exercises() if paths.pictures(exercise.folder).exists()]
TOKENS = ("Your", "journey")
HEAD = "import torch\ndef attention_weights(inputs):\n"


def of_source(source: str, fork_server, number: str = "03") -> tuple[Picture, ...]:
    return capture_pictures(catalog.find(number), Submission(source, "mine.py"), fork_server)


def figure_of(picture: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(heatmap.figure(picture).replace("class=number", 'class="number"'))


# What is in them.


@pytest.mark.parametrize("exercise", sample(DRAWN, 12), ids=lambda exercise: exercise.folder)
def test_a_solution_lies_on_the_expected_and_a_stub_says_why_it_does_not(exercise, fork_server):
    right, stub = (
        capture_pictures(exercise, submission.read(find(exercise.folder)), fork_server)
        for find in (paths.solution, paths.stub)
    )
    assert right and stub
    for picture in right:
        assert picture.learner is not None, picture.note
        assert picture.largest_difference < 1e-4
        assert len(picture.expected) == len(picture.rows)
        assert {len(row) for row in picture.expected} == {len(picture.columns)}
    for picture in stub:
        assert picture.learner is None and picture.difference is None and "not written yet" in picture.note
    for picture, width in itertools.product(capture.blank(exercise, "a note " * 30), (40, 80, 200)):
        narrowest = 8 + 4 * max(8, len(picture.columns))  # one panel is never cut
        for one in (picture, replace(picture, learner=picture.expected)):
            for line in heatmap.render(one, width):
                assert line.cell_len <= max(width, narrowest) or line.plain == one.title


def test_without_the_scale_the_weights_are_as_sharp_as_the_second_picture_says(fork_server):
    scaled, unscaled = of_source(mistake("06", "scaling_left_out").source, fork_server, "06")
    got, expected = (itertools.chain(*rows) for rows in (scaled.learner, unscaled.expected))
    assert [*got] == pytest.approx([*expected], abs=1e-4)
    assert max(map(max, unscaled.expected)) > 0.99
    mean = [sum(map(max, picture.expected)) / len(picture.rows) for picture in (scaled, unscaled)]
    assert mean[1] > mean[0] + 0.1


# Whatever the learner's code does.


BODIES = {  # of attention_weights, and what the note says
    "return None": "None",
    "return inputs": "(6, 3)",
    "return torch.zeros(6, 6, dtype=torch.complex64)": "complex64",
    "return torch.zeros(6, 6, device='meta')": "meta",
    "raise ValueError('\\x1b[31m<b>')": "ValueError",
    "import os; os._exit(3)": "exit code 3",
    "x = torch.zeros(6, 6)\n    while True: pass": "infinite loop",
}
FILES = {f"{HEAD}    {body}\n": note for body, note in BODIES.items()}
FILES |= dict.fromkeys(("def broken(:", "def other(): pass"), "")


@pytest.mark.parametrize("source", FILES)
def test_it_comes_whatever_the_file_does(source, fork_server):
    (picture,) = of_source(source, fork_server)
    assert picture.learner is None and picture.expected
    assert picture.note and FILES[source] in picture.note and "\x1b" not in picture.note
    assert heatmap.render(picture) and "<b>" not in heatmap.figure(picture)


@pytest.mark.parametrize("value", ["torch.nan", "-torch.inf", "1e30", "True"])
def test_numbers_that_are_none_are_shown_too(value, fork_server):
    (picture,) = of_source(f"{HEAD}    return torch.full((6, 6), {value})\n", fork_server)
    assert picture.learner is not None and heatmap.render(picture)
    figure_of(picture)


# Their forms.


def printed(picture: Picture, **options) -> str:
    console = Console(file=io.StringIO(), width=80, **options)
    for line in heatmap.render(picture):
        console.print(line)
    return console.file.getvalue()


PICTURE = Picture("weights", TOKENS, TOKENS, ((0.25, 0.75), (-0.5, 1.5)), ((0.5, 0.5), (0.0, 1.0)), "a note")
OTHER = Picture("other weights", TOKENS, TOKENS, None, ((0.1, 0.9), (0.3, 0.7)), "a note")


def test_colours_where_the_terminal_has_them_and_numbers_everywhere(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    blue = printed(PICTURE, force_terminal=True, color_system="truecolor")
    assert "48;2;8;69;148" in blue
    assert "48;5;" in printed(OTHER, force_terminal=True, color_system="256")
    plain = printed(PICTURE)
    assert "\x1b" not in plain
    monkeypatch.setenv("NO_COLOR", "1")
    bare = printed(PICTURE, force_terminal=True, color_system="truecolor")
    assert "48;" not in bare and "38;" not in bare
    for text in (blue, plain, bare):
        assert ".25" in text and ".75" in text and "jou" in text and "difference" in text


SHORT = [  # a number, the characters that there are, and its text
    (0.2379, 4, ".24"), (1.0, 3, "1.0"), (1.0, 4, "1.00"), (0.0, 4, "0"), (-0.0, 4, "0"), (-0.25, 3, "-.2"),
    (-0.25, 4, "-.25"), (12.4, 3, "12"), (1e9, 3, ">>"), (-1e9, 4, "<<"), (math.nan, 3, "nan"),
    (math.inf, 4, "inf"), (-math.inf, 3, "-∞"), (0.999, 4, "1.00"), (0.001, 3, "0"), (-0.001, 4, "0"),
]  # fmt: skip


def test_a_number_is_short_and_can_be_read_on_its_colour():
    assert [heatmap.short(value, width) for value, width, _ in SHORT] == [text for *_, text in SHORT]
    for step in range(-100, 101):
        colour = heatmap.background(step / 100, 1.0)
        assert heatmap.contrast(heatmap.foreground(colour), colour) >= 4.5
    assert heatmap.background(5.0, 1.0) == heatmap.background(1.0, 1.0) == heatmap.MORE
    assert heatmap.background(-5.0, 1.0) == heatmap.LESS


def test_difference_is_learner_minus_expected():
    assert PICTURE.difference == ((-0.25, 0.25), (-0.5, 0.5)) and PICTURE.largest_difference == 0.5
    rows = ((math.inf, 0), (0, 0))
    assert Picture("t", TOKENS, TOKENS, rows, rows).largest_difference == 0


def test_svg_says_in_words_and_in_a_table_what_it_shows():
    evil = Picture("<script>", ("<b>", "a&b"), ("x", "y"), PICTURE.learner, PICTURE.expected, "</figure>\u202e")
    text, figure = heatmap.figure(evil), figure_of(evil)
    assert "<script" not in text and "\u202e" not in text
    images, table = figure.findall(".//svg"), figure.find(".//table")
    labels = [f"<script>: {caption}" for caption in ("yours", "expected", "difference")]
    assert [image.get("aria-label") for image in images] == labels
    assert all(image.find("title") is not None and "largest of each row" in image.find("desc").text for image in images)
    assert [float(cell.text) for cell in table.findall(".//td")] == [0.25, 0.75, -0.5, 1.5]
    assert [head.text for head in table.findall("./tbody/tr/th")] == ["<b>", "a&b"]


def test_numbers_that_differ_by_rounding_alone_are_printed_alike():
    """In each form: 0.945 and its neighbour are no .94 beside .95. A real difference is still seen.

    In a page, a matrix without one is shown once.
    """
    expected = ((0.945, 0.6310), (1.06, 0.0))
    noisy = Picture("t", TOKENS, TOKENS, ((0.9450001, 0.63104), (1.05999, -1e-9)), expected)
    wrong = Picture("t", TOKENS, TOKENS, ((0.946, 0.63104), (1.05999, -1e-9)), expected)
    for picture, is_alike in ((noisy, True), (wrong, False)):
        figure = figure_of(picture)
        tables = [[cell.text for cell in table.findall(".//td")] for table in figure.findall(".//table")]
        assert len(tables) == (1 if is_alike else 3)
        assert tables[0 if is_alike else 1] == ["0.9450", "0.6310", "1.0600", "0.0000"]
        assert is_alike or tables[0] == ["0.9460", *tables[1][1:]]
        assert all(re.fullmatch(r"-?\d+\.\d{4}", text) for table in tables for text in table)
        images = [[text.text for text in image.findall("./text")][1:] for image in figure.findall(".//svg")]
        assert len(images) == len(tables)
        assert is_alike or images[0][-3:] == images[1][-3:]
        data = display.matrices(catalog.find("03"), [picture])["pictures"][0]
        assert (data["learner"] == data["expected"]) is is_alike
    rows = [line.plain.split() for line in heatmap.render(noisy) if line.plain.strip().startswith(TOKENS)]
    assert len(rows) == 2 and all(row[1:3] == row[3:5] for row in rows), rows


# The command.


def test_without_solutions_and_hidden_checks(said, tmp_path, relocate):
    solution = paths.solution(catalog.find("13").folder)
    hidden = [f"test_{exercise.slug}.py" for exercise in catalog.exercises()]
    ignored = shutil.ignore_patterns("__pycache__", *hidden)
    shutil.copytree(paths.CHECKS, tmp_path / "grader/checks", ignore=ignored)
    relocate(tmp_path, "CHECKS", "SOLUTIONS")
    capture.setups.cache_clear()
    done = said("plot", "13", "--submission", solution)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("yours") == 4 and "\x1b" not in done.stdout


def test_a_broken_file_is_a_picture_too_and_what_is_no_text_is_refused(said, tmp_path):
    for written, code, words in ((b"def attention_weights(inputs:\n", 0, "SyntaxError"), (b"\xff\xfe", 2, "not UTF-8")):
        (tmp_path / "mine.py").write_bytes(written)
        done = said("plot", "3", "--submission", tmp_path / "mine.py")
        assert done.returncode == code and words in done.stdout + done.stderr
