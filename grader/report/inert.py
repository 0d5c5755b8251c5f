"""Makes a learner's text harmless to show: no escape codes, no direction tricks, no controls."""

import unicodedata

SPACES = {"\n", "\t"}
MAX_LINE = 400


def inert(text: str) -> str:
    """The text with every control and format character written out, as in "\\x1b"."""
    return "".join(map(_safe, text.replace("\r\n", "\n")))


def _safe(character: str) -> str:
    if character in SPACES:
        return character
    # Cc: controls, Cf: formats such as bidi overrides, Cs: lone surrogates, Co: private, Zl/Zp: line separators
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        return character.encode("unicode_escape").decode()
    return character
