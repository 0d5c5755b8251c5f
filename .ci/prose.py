"""Checks what people read: lessons, docs, messages, docstrings and comments. Usage: python .ci/prose.py [FILE …]

proselint does the work, with some of its own checks and the words of PHRASES. Code, formulas and links are blanked out,
so lines and columns stay what they are.
"""

import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

from proselint.checks import __register__ as proselints_own
from proselint.config import Config
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, types
from proselint.tools import LintFile

ROOT = Path(__file__).resolve().parents[1]
# What a teacher would not say aloud, and what to say. Patterns of re2; {} in a message is the right side.
PHRASES = {
    "shall": "will, must or can",
    "foretells?": "predict",
    "comes? of (?:it|this|that|them)": "follows from, or comes from",
    "what comes of": "what follows from",
    "(?:is|are|was|were) told": "is shown, or says",
    "told (?:as one|apart by|alike)": "shown as one",
    "anew": "again",
    "no rarity": "common",
    "less the mean": "minus the mean",
    "a minute or some": "about a minute",
    "the printed ones": "the noun again: the numbers in the lesson",
    "mend(?:s|ed|ing)?": "fix",
    "does not bear": "does not allow",
    "in silence": "silently",
    "go(?:es)? for all": "apply to all",
    "stand(?:s)? (?:beside|below|above|there) ": "is",
    "turns? round": "reverse",
    "not taken": "no attempt was made",
    "nothing else is asked of": "by default",
    "mirrored (?:at|on) (?:its|the) diagonal": "symmetric about its diagonal",
    "learnt": "learned",
    "beside this lesson": "in this lesson's folder",
    "from (?:about )?(?:[2-9]|[0-9]{2,})[0-9.,]* on(?:wards)?": "from … upward",
    "(?:comes?|belongs?|drafted|appended|written|one) behind": "after",
    "the (?:two|three|four|five|ten) likeliest": "the most likely",
    "(?:gives?|returns?|keeps?|takes?|needs?|holds?|counts?) (?:the |its |a )?[a-z_]+ alone": "only, before its noun",
    "(?:the the|a a|an an|is is|are are|of of|to to|in in|and and|that that)": "the word once",
}
OWN = "words"
CHECKS = {
    OWN: True,
    "archaism": True,
    "malapropisms": True,
    "mondegreens": True,
    "nonwords": True,
    "oxymorons": True,
    "redundancy.misc.after_the_deadline": False,  # it objects to “for free”
    "redundancy": True,
    "needless_variants": True,
}
CONFIG = Config(max_errors=1_000, checks=CHECKS)  # of one file
# What is no prose in Markdown: fenced blocks, inline code, formulas, addresses of links, tags, front matter of tables.
MARKDOWN = re.compile(
    r"^```.*?^```[ ]*$|^~~~.*?^~~~[ ]*$|`[^`\n]+`|\$\$.*?\$\$|\$[^$\n]+\$|\]\([^)\n]*\)|<[^>\n]*>|https?://\S+",
    re.MULTILINE | re.DOTALL,
)
# The quotes of a text itself: what is within quotes is not read, since somebody else may have said it.
QUOTES = re.compile(r"^[a-zA-Z]*(?:\"\"\"|\'\'\'|\"|\')|(?:\"\"\"|\'\'\'|\"|\')$")
CODE_IN_TEXT = re.compile(r"`[^`\n]+`|\{[^{}\n]*\}|https?://\S+")


def main(arguments: list[str]) -> int:
    """Lint the given files, or all that git tracks. Returns 1 where anything was found."""
    registry = CheckRegistry()
    registry.register_many(proselints_own)
    for number, (phrase, instead) in enumerate(PHRASES.items()):
        message = f"Nobody says “{{}}” aloud. Try: {instead}."
        registry.register(Check(types.Existence(items=(phrase,)), path=f"{OWN}.{number}", message=message))
    findings = 0
    for path in map(Path, arguments or tracked()):
        if path.suffix not in (".md", ".py") or path.resolve() == Path(__file__):
            continue
        source = path.read_text("utf-8")
        prose = markdown(source) if path.suffix == ".md" else python(source)
        if not prose.strip():
            continue
        file = LintFile(path, prose)
        for result in file.lint(CONFIG):
            line, column = file.line_col_of(result.check_result.span[0])
            shown = path.resolve().relative_to(ROOT)
            text = file.content[slice(*result.check_result.span)].strip()
            print(f"{shown}:{line}:{column}: {text!r}: {result.check_result.message}")
            findings += 1
    return int(findings > 0)


def tracked() -> list[str]:
    """The files of the project whose text somebody reads. Tests speak to their authors alone."""
    listed = subprocess.run(["git", "ls-files", "*.md", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [str(ROOT / name) for name in listed.stdout.split() if not name.startswith("tests/")]


def markdown(source: str) -> str:
    """A text without what is no prose, each character of which is a space."""
    return MARKDOWN.sub(blanked, source)


def python(source: str) -> str:
    """The comments and texts of a program, at their places."""
    originals = source.splitlines()
    lines = [" " * len(line) for line in originals]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_text = token.type == tokenize.STRING or token.type == getattr(tokenize, "FSTRING_MIDDLE", -1)
        if not is_text and token.type != tokenize.COMMENT:
            continue
        text = QUOTES.sub(blanked, token.string) if is_text else token.string
        (first, start), (last, end) = token.start, token.end
        for number, part in enumerate(text.splitlines(), first):
            begin, stop = start if number == first else 0, end if number == last else len(lines[number - 1])
            lines[number - 1] = lines[number - 1][:begin] + part + lines[number - 1][stop:]
    return CODE_IN_TEXT.sub(blanked, "\n".join(lines))


def blanked(match: re.Match[str]) -> str:
    """As many spaces, and as many lines."""
    return re.sub(r"[^\n]", " ", match[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
