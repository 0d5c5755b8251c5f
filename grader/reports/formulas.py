"""Formulas of a lesson as text, for a terminal: `$\\frac{1}{\\sqrt{d_k}}$` becomes 1/√d_k."""

import functools
import re
from typing import Any

# Code is unchanged; a formula is enclosed by $$ or by $, and is wrapped once at most.
FORMULA = re.compile(r"(?P<code>```.*?```|`[^`]*`)|\$\$(?P<block>.+?)\$\$|\$(?P<line>[^$\n]+(?:\n[^$\n]+)?)\$", re.S)
WORDS = re.compile(r"\\text\{([^{}]*)\}")
SCRIPT = re.compile(r"([_^])\{((?!\(|\\\w+\})[^{}]*[^{}A-Za-z0-9][^{}]*)\}")  # of more than one name or number
SIGNS = re.compile(r"\s*([·≤≥∘∈×⟺→])\s*")
ROOT = re.compile(r"√\((\w+)\)")


def as_text(markdown: str) -> str:
    """The Markdown with each formula as plain text."""
    return FORMULA.sub(lambda match: match["code"] or formula(match["block"] or match["line"]), markdown)


def formula(latex: str) -> str:
    """One formula without its dollars."""
    plain_text = WORDS.sub(r"\1", latex.replace(r"\,", " ").replace(r"\tfrac", r"\frac"))
    text = _converter().latex_to_text(SCRIPT.sub(r"\1{(\2)}", plain_text))
    text = SIGNS.sub(r" \1 ", " ".join(text.split())).replace("^⊤", "^⊤ ").replace("⊤  ", "⊤ ").replace("⊤ )", "⊤)")
    return ROOT.sub(r"√\1", text).strip()


@functools.cache
def _converter() -> Any:
    """The converter, which puts a numerator or denominator of several terms in parentheses."""
    from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

    def fraction(node: Any, l2tobj: Any) -> str:
        """Above/below, in brackets where one is a sum."""
        parts = (l2tobj.nodelist_to_text([argument]).strip() for argument in node.nodeargd.argnlist)
        return "/".join(f"({part})" if " " in part or "+" in part or "-" in part else part for part in parts)

    context = get_default_latex_context_db()
    context.add_context_category("kata", prepend=True, macros=[MacroTextSpec("frac", simplify_repl=fraction)])
    return LatexNodes2Text(math_mode="text", latex_context=context)
