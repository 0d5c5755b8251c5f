"""Formulas of lessons, which math-core reads: as MathML for a page, as text for a terminal.

CONTRIBUTING.md says which LaTeX a lesson may use: GitHub and Jupyter, with renderers of their own, must set it too.
A page takes its formulas out before its Markdown is read, and puts them back afterwards.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from grader.catalog import paths

# Code is unchanged; a formula is enclosed by $$ or by $, and is wrapped once at most.
FORMULA = re.compile(r"(?P<code>```.*?```|`[^`]*`)|\$\$(?P<block>.+?)\$\$|\$(?P<line>[^$\n]+(?:\n[^$\n]+)?)\$", re.S)
TAKEN, BLOCK_TAKEN = "\ue002{}\ue003", re.compile("<p>\ue002(\\d+)\ue003</p>")
LINE_TAKEN = re.compile("\ue002(\\d+)\ue003([.,;:)]*)")
BLOCK, LINE = "block", "line"
APPLY = "\u2061"  # the invisible operator between a function and its argument
TILDE = "\u0303"  # above the letter before it
LONG = 24  # letters from which on a formula in a line may be broken
WIDE_EM = 1.0  # a space from which on the parts of a formula may be on lines of their own
GAP = "\N{NO-BREAK SPACE}" * 3
RELATIONS = frozenset("=<>≤≥≠≈∈←→↔⟺⟹")
BREAKING = RELATIONS | frozenset("+−")
SPACED = BREAKING | frozenset("-±·×∘⊙")
OPENING, CLOSING = frozenset("([{⌊⌈"), frozenset(")]}⌋⌉")
SCRIPTED = frozenset(("msub", "msup", "msubsup", "munder", "munderover", "mfrac", "msqrt"))
MARKS = {"msub": "_", "munder": "_", "msup": "^", "mover": "^", "msubsup": "_^", "munderover": "_^"}
AHEAD = CLOSING | {"∑"}
OPERAND = re.compile(r"[\w√∑]")
SIMPLE = re.compile(r"[√\w.'^∞½⅓⅔¼¾⊤\u0303]*|[\w√^]*\([^()]*\)")
ONE = re.compile(r"[^\W_]+|\d+\.\d+|.|\([^()]*\)")
FONT_FACE = '@font-face { font-family: "Lesson Math"; src: url("math.ttf"); font-display: swap; }\n'
AS_TYPED = {"−": "-", "⋅": "·", "′": "'"}
PRIMED = re.compile(r"<msup>(<mi>[^<]*</mi>)<mo>′</mo></msup>")
MARKUP = re.compile(r"[_*\[\]<`]")


def take_out(markdown: str) -> tuple[str, list[tuple[str, str]]]:
    """The Markdown with a number in place of each formula, and the formulas: BLOCK or LINE, and the LaTeX."""
    taken: list[tuple[str, str]] = []

    def take(found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        taken.append((BLOCK, found["block"]) if found["block"] else (LINE, found["line"]))
        return TAKEN.format(len(taken) - 1)

    return FORMULA.sub(take, markdown), taken


def put_back(html: str, taken: list[tuple[str, str]]) -> str:
    """The HTML with MathML in place of the numbers. Raises math_core.LatexError if a formula cannot be read."""
    html = BLOCK_TAKEN.sub(lambda found: as_block(taken[int(found[1])][1]), html)
    return LINE_TAKEN.sub(lambda found: as_line(taken[int(found[1])][1], found[2]), html)


def as_block(latex: str) -> str:
    """A formula on lines of its own: what a wide space separates may go to the next line, and so may each relation."""
    parts = itertools.groupby(_read(latex, BLOCK), lambda node: _width(node) >= WIDE_EM)
    spans = (f"<span>{''.join(_pieces(part, BLOCK))}</span>" for is_gap, part in parts if not is_gap)
    return f'<div class="formula">{"".join(spans)}</div>'


def as_line(latex: str, stop: str = "") -> str:
    """A formula within a line of text. stop: what follows it without a space."""
    nodes = _read(latex, LINE)
    *pieces, last = _pieces(nodes, LINE) if len(text(latex)) > LONG else [_math(nodes, LINE)]
    return f'{"".join(pieces)}<span class="unbroken">{last}{stop}</span>'


def as_text(markdown: str, as_markdown: bool = False) -> str:
    """Markdown with each formula as plain text. as_markdown: in which what means something in Markdown is escaped."""

    def show(found: re.Match[str]) -> str:
        plain = text(found["block"] or found["line"] or "")
        return found["code"] or (MARKUP.sub(r"\\\g<0>", plain).replace("\n", "  \n") if as_markdown else plain)

    return FORMULA.sub(show, markdown)


@functools.cache
def text(latex: str) -> str:
    """A formula as one line of text, with a line for each row of cases."""
    return _text(_read(latex, BLOCK)).strip().replace("· · ·", "...")


def style() -> str:
    """The style of formulas. The font, where there is one, is math.ttf beside it: without any a root may be lost."""
    return (FONT_FACE if font() else "") + paths.module("integrations/site/formulas.css").read_text("utf-8")


def font() -> Path | None:
    """The font of formulas as the package ziamath ships it (STIX Two Math, SIL Open Font License); None without it."""
    found = importlib.util.find_spec("ziamath")  # not imported: only the file is needed
    path = Path(found.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf" if found and found.origin else None
    return path if path and path.is_file() else None


def _read(latex: str, style: str) -> list[Element]:
    r"""What is in the <math> of a formula. `\cr` ends a row, as Markdown takes a backslash away from `\\`."""
    from math_core import LatexToMathML  # here, since make help works before anything is installed

    latex = re.sub(r"\\cr\b", r"\\\\", latex)
    found = LatexToMathML(fancy_error=False).convert_with_local_state(latex, displaystyle=style == BLOCK)
    # In the font a prime is high already: as a power it would be too small to be seen.
    found = PRIMED.sub(r"<mrow>\1<mo lspace='0' rspace='0'>′</mo></mrow>", found.replace("&ApplyFunction;", APPLY))
    return list(ElementTree.fromstring(found))


def _pieces(nodes: Iterable[Element], style: str) -> list[str]:
    """The formula as several <math>, between which a browser may break the line: it breaks none by itself."""
    pieces: list[list[Element]] = [[]]
    depth = 0
    for node in nodes:
        if depth == 0 and pieces[-1] and _sign(node) in BREAKING and node.get("lspace") != "0":
            node.set("form", "infix")  # with the space before it, though it comes first
            pieces.append([])
        depth += (_sign(node) in OPENING) - (_sign(node) in CLOSING)
        pieces[-1].append(node)
    return [_math(piece, style) for piece in pieces]


def _math(nodes: Iterable[Element], style: str) -> str:
    """One <math>, without style="…", which the policy of our pages refuses."""
    whole = ElementTree.Element("math", {"displaystyle": "true"} if style == BLOCK else {})
    whole.extend(nodes)
    for node in whole.iter():
        if "left" in node.attrib.pop("style", ""):  # of a cell
            node.set("class", "left")
    return ElementTree.tostring(whole, "unicode")


def _text(nodes: Iterable[Element]) -> str:
    """Parts in a row. A space is where two of them would be read as one."""
    said, before = "", None
    for node in nodes:
        word = _word(node)
        if before is not None and word:
            is_scripted = before.tag in SCRIPTED
            is_apart = OPERAND.match(word) and (is_scripted or said[-1:] in AHEAD)
            is_times = word[0] == "(" and is_scripted and len(_word(before[0])) == 1
            if is_apart or is_times:
                said += " "
        said, before = said + word, node
    return said


def _word(node: Element) -> str:
    """One part."""
    children = list(node)
    match node.tag:
        case "mo":
            return _operator(node)
        case "mspace":
            return GAP if _width(node) >= WIDE_EM else " " if _width(node) else ""
        case "mfrac":
            return "/".join(map(_group, map(_word, children)))
        case "msqrt":
            return f"√{_group(_text(children))}"
        case "mover" if node.get("accent"):
            return _word(children[0]) + TILDE
        case tag if tag in MARKS:
            return _word(children[0]) + "".join(map(_script, MARKS[tag], children[1:]))
        case "mtable":
            return "; ".join(" ".join(map(_word, row)) for row in children)
        case "mrow" if len(children) > 1 and children[0].text == "{" and children[1].tag == "mtable":
            return "".join(f"\n{GAP}{GAP.join(map(_word, row))}" for row in children[1]) + "\n"
    return _text(children) if children else node.text or ""


def _operator(node: Element) -> str:
    sign = AS_TYPED.get(node.text or "", node.text or "")
    if sign == APPLY:  # a thin space is before the argument, where that has no brackets
        return " " if node.get("lspace") else ""
    if sign in SPACED:
        return f"{' ' * (node.get('lspace') != '0')}{sign}{' ' * (node.get('rspace') != '0')}"
    return f"{sign} " if sign == "," and node.get("rspace") != "0" else sign


def _group(said: str) -> str:
    """A part in brackets if it has several terms or factors."""
    said = said.strip()
    return said if SIMPLE.fullmatch(said) else f"({said})"


def _script(mark: str, node: Element) -> str:
    """An index or a power, in brackets if it has more than one sign or name."""
    said = _word(node).strip()
    if said.startswith("'"):
        return "'" + (f"^{said[1:]}" if said[1:] else "")
    return mark + (said if ONE.fullmatch(said) else f"({said})")


def _sign(node: Element) -> str:
    """The operator that this is, or that has an index or a power here; "" for anything else."""
    node = node[0] if node.tag in SCRIPTED and len(node) else node
    return node.text or "" if node.tag == "mo" else ""


def _width(node: Element) -> float:
    """The width of a space in em; 0 for anything else."""
    return float(node.get("width", "0em").removesuffix("em")) if node.tag == "mspace" else 0.0
