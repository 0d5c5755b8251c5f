"""The LaTeX of lessons, which four renderers must set: GitHub's and Jupyter's, our pages' and the terminal's."""

import re

import pytest
from globs import some

from grader.catalog import paths
from grader.desk import formulas

SOURCES = [
    *some(paths.EXERCISES.glob("*/*.md")), *some(paths.SOLUTIONS.glob("*/*.md")),
    *some(paths.DOCS.glob("*.md")), *some(paths.at_root("README.md").parent.glob("*.md")),
]  # fmt: skip
BLOCK, NO_LINE = "\ue000", r"(?<!\n\n)(?<!\A)"  # what is put for a formula on lines of its own
# What CONTRIBUTING forbids: in a formula, and elsewhere in a text.
FORBIDDEN = {
    "the backslash before a sign that is no letter, which GitHub's Markdown takes away": r"\\[^A-Za-z]",
    "\\operatorname, which GitHub refuses: write \\mathrm": r"\\operatorname",
    "a space inside the dollars, where no formula is seen": r"\A\s|\s\Z",
    "an underscore in \\text, where LaTeX allows none": r"\\text\{[^}]*_",
}
AROUND = {
    "no empty line around $$": rf"{NO_LINE}{BLOCK}|{BLOCK}(?!\n\n|\n?\Z)",
    "a backquote in <summary>, where Markdown is not read: write <code>": r"<summary>[^<]*`",
}
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
TEXT = re.compile(r"\\text\{([^{}]*)\}")


def faults(text):
    """What is wrong in the formulas of a text, and beside them."""
    formula = [latex for _, latex in formulas.take_out(text)[1]]
    bare = FENCED.sub("", formulas.FORMULA.sub(lambda found: found["code"] or (BLOCK if found["block"] else "x"), text))
    wrong = [f"{latex}: {why}" for latex in formula for why, sign in FORBIDDEN.items() if re.search(sign, latex)]
    return wrong + [f"{found[0]!r}: {why}" for why, sign in AROUND.items() for found in re.finditer(sign, bare, re.M)]


def all_formulas():
    """Each formula of the project once, with the file where it is first."""
    found = {}
    for path in SOURCES:
        if path.parent != paths.DOCS and path.parent.name != paths.PROJECT.name:
            for latex in formulas.take_out(path.read_text("utf-8"))[1]:
                found.setdefault(latex[1], path.parent.name)
    return found


def test_texts_keep_to_the_latex_that_all_renderers_set():
    assert [(path, fault) for path in SOURCES for fault in faults(path.read_text("utf-8"))] == []


def test_every_word_of_every_formula_is_in_its_text_and_no_latex():
    for latex, folder in all_formulas().items():
        text = formulas.text(latex)
        assert text and not set("\\{}$&") & set(text.replace("{max(", "").replace(", ..., i}", "")), (folder, latex)
        squeezed = "".join(text.split())
        missing = [word for words in TEXT.findall(latex) for word in words.split() if word not in squeezed]
        assert missing == [], (folder, latex, text)


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{Q K^{\top}}{\sqrt{d_k}}", "QK^⊤/√d_k"),
        (r"\frac{1}{T - 1} \sum_{t=1}^{T-1} A_{t, t-1}", "1/(T - 1) ∑_(t=1)^(T-1) A_(t,t-1)"),
        (r"e^{s - \text{old maximum}}", "e^(s-old maximum)"),
        (r"e^{\mathrm{i} m \theta_i}", "e^(imθ_i)"),
        (r"x^{(0)}_t = E_{t_i}", "x_t^(0) = E_(t_i)"),
        (r"p_i (dp_i + 1) = p_i \quad\text{for } i \ne t", "p_i (dp_i + 1) = p_i   for i ≠ t"),
        (r"a \cos(m \theta_i) - b, \qquad -2 \log ⅔", "a cos(mθ_i) - b,    -2 log ⅔"),
        (r"x \leftarrow x + e \approx 2.718 \odot W", "x ← x + e ≈ 2.718 ⊙ W"),
        (r"dV \mathrel{+}= P^\top dO", "dV += P^⊤ dO"),
        (r"\begin{cases} \tilde S_{ij} & \text{if } M_{ij} \cr -\infty & \text{else} \end{cases}",
         "S̃_ij   if M_ij\n   -∞   else"),
        (r"\begin{pmatrix} 1 & 0 \cr 0 & 2 \end{pmatrix}^\top", "(1 0; 0 2)^⊤"),
    ],
)  # fmt: skip
def test_a_formula_as_text(latex, text):
    assert formulas.text(latex).replace("\N{NO-BREAK SPACE}", " ") == text


def test_what_means_something_in_markdown_is_escaped_and_code_is_unchanged():
    assert formulas.as_text(r"`$x_1$` $\mathrm{softmax}(x)_i = e^{x_i}$", True) == r"`$x_1$` softmax(x)\_i = e^(x\_i)"
    assert formulas.as_text("$x_1$ and `$x_1$`") == "x_1 and `$x_1$`"


def test_a_formula_of_a_page_is_mathml_that_may_be_broken():
    text, taken = formulas.take_out("A root: $\\sqrt{d_k}$.\n\n$$a = b \\qquad c$$\n")
    html = formulas.put_back("".join(f"<p>{part}</p>" for part in text.strip().split("\n\n")), taken)
    assert "<msqrt>" in html and html.count('<span class="unbroken">') == 1 and "</math>.</span>" in html
    assert '<div class="formula"><span><math displaystyle="true">' in html and html.count("<math") == 4
    assert "<msup>" not in formulas.as_line("j'"), "a prime as a power is too small to be seen"
    assert not any(" style=" in formulas.as_block(latex) for latex in all_formulas()), "no page of ours allows it"
