"""Turns the formulas of a page into MathML, which browsers show without a script or a font."""

import html
import re

FORMULA = re.compile(
    r'<(span|div) class="arithmatex">\\(?P<open>[(\[])(?P<latex>.*?)\\[)\]]</\1>(?P<stop>[.,;:)]*)', re.S
)
TEXT = re.compile(r"\\text\{[^}]*\}")  # here the converter does not understand "\_"


def with_mathml(content: str, page_name: str) -> str:
    """The HTML with MathML in place of every formula that arithmatex marked. page_name: the page, for messages.

    Raises PluginError, which mkdocs shows, where a formula cannot be read.
    """
    from latex2mathml.converter import convert
    from mkdocs.exceptions import PluginError

    def converted(match: re.Match[str]) -> str:
        """One formula as MathML."""
        latex, is_block = html.unescape(match["latex"]).strip(), match["open"] == "["
        try:
            formula = convert(
                TEXT.sub(lambda text: text[0].replace("\\_", "_"), latex), display="block" if is_block else "inline"
            )
        except Exception as error:  # it raises many kinds
            raise PluginError(f"{page_name}: the formula {latex!r} cannot be read ({type(error).__name__})") from None
        if "\\" in formula:
            raise PluginError(f"{page_name}: the formula {latex!r} uses a command that is not known")
        formula = formula.replace("<math ", f'<math aria-label="{html.escape(latex)}" ', 1)
        if is_block:
            return f'<div class="formula" tabindex="0">{formula}</div>{match["stop"]}'
        return f'<span class="unbroken">{formula}{match["stop"]}</span>'

    return FORMULA.sub(converted, content)
