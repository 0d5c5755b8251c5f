"""The encoding that a Python source declares in its first two lines (PEP 263): "# -*- coding: latin-1 -*-"."""

import codecs
import re

DECLARATION = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]{1,40})")
NO_CODE = re.compile(rb"[ \t\f]*(?:#.*)?\r?")
# One byte a character, or two in East Asia: decoding them takes no more time than reading. Python knows others that
# unpack or escape.
KNOWN = re.compile(r"iso8859-\d+|cp\d+|koi8-[rut]|mac-\w+|euc_\w+|gb\w+|big5\w*|shift_jis\w*|hz|johab")


def declared_encoding(data: bytes) -> str | None:
    """The encoding, or None where no usual one is declared. Only a comment may stand before the declaration."""
    first, _, rest = data.partition(b"\n")
    lines = (first, rest.partition(b"\n")[0]) if NO_CODE.fullmatch(first) else (first,)
    for line in lines:
        if match := DECLARATION.match(line):
            try:
                name = codecs.lookup(match[1].decode("ascii", "replace")).name
            except LookupError:
                return None
            return name if KNOWN.fullmatch(name) else None
    return None
