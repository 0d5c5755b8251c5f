"""Formulas as text: a terminal shows no LaTeX."""

import pytest

from grader import catalog
from grader.catalog import paths
from grader.desk import hints, lesson


@pytest.mark.parametrize("exercise", catalog.exercises(), ids=lambda exercise: exercise.folder)
def test_no_latex_is_left_in_a_lesson_or_a_hint(exercise):
    markdown = paths.lesson(exercise.folder).read_text("utf-8")
    for found in lesson.FORMULA.finditer(markdown):
        if not found["code"]:
            text = lesson.as_text(found[0])
            assert text and not set("\\{$") & set(text.replace("∈ {", "")), found[0]
    assert not any("$" in lesson.as_text(hint.text) for hint in hints.all_hints(exercise.folder))


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"$\sqrt{d_k}$", "√d_k"),
        (r"$\frac{Q K^{\top}}{\sqrt{d_k}}$", "(Q K^⊤)/√d_k"),
        (r"$e^{s - \text{old maximum}}$", "e^(s - old maximum)"),
        (r"$A_{t,t-1}$", "A_(t,t-1)"),
        (r"$T \times T$ and `$x$`", "T × T and `$x$`"),
    ],
)
def test_a_formula_as_text(latex, text):
    assert lesson.as_text(latex) == text
