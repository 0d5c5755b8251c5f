"""Makes a learner's text safe to show: no escape codes, bidirectional controls, other controls or CI commands."""

import re
import unicodedata

SPACES = {"\n", "\t"}
MAX_LINE = 400
# What a CI system executes as a command where it reads it in a log: ::error, ##[group], ##vso[…], ##teamcity[…]
COMMAND = re.compile(r"^[^\S\n]*:(?=:)|#(?=#(?:vso|teamcity)?\[)", re.M)


def inert(text: str) -> str:
    """The text with every control and format character and the start of CI commands escaped, as in "\\x1b"."""
    if text.isprintable() and ":" not in text and "#" not in text:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    safe_text = "\n".join(line if line.isprintable() else "".join(map(_safe, line)) for line in lines)
    return COMMAND.sub(lambda match: f"{match[0][:-1]}\\x{ord(match[0][-1]):02x}", safe_text)


def label(name: str) -> str:
    """A stranger's name or path as one safe line of at most MAX_LINE characters."""
    line = inert(name[: 2 * MAX_LINE]).replace("\n", "\\n").replace("\t", "\\t")
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"


def _safe(character: str) -> str:
    """The character, or its escape where it controls the output."""
    # Cc: controls, Cf: formats (bidi overrides), Cs: lone surrogates, Co: private, Cn: unassigned, Zl/Zp: separators
    is_control = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return character.encode("unicode_escape").decode() if is_control and character not in SPACES else character
