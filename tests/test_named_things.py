"""Whatever a lesson, hint, page or message tells people to type is there: targets, verbs, files."""

import ast
import re

import pytest

from grader import catalog
from grader.catalog import paths
from grader.cli import VERBS

MAKE = re.compile(r"`make ([a-z][a-z0-9-]*)")
IN_BLOCK = re.compile(r"^(?:\$ )?make ([a-z][a-z0-9-]*)(?=$| +[A-Z#])", re.M)
KATA = re.compile(r"(?:`|^)kata ([a-z][a-z0-9-]*)", re.M)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
BLOCK = re.compile(r"^```\n(.*?)^```", re.M | re.S)
TARGETS = set(re.findall(r"^([a-z][a-z0-9-]*):(?!=)", paths.at_root("Makefile").read_text("utf-8"), re.M))
PAGES = [
    *paths.ROOT.glob("*.md"),
    *paths.DOCS.glob("*.md"),
    *paths.EXERCISES.glob("*/*.md"),
    *paths.SOLUTIONS.glob("*/notice.md"),
]


def typed(text: str) -> tuple[set[str], set[str]]:
    """The targets of make and the verbs of kata that a text names."""
    blocks = "\n".join(BLOCK.findall(text))
    return {*MAKE.findall(text), *IN_BLOCK.findall(blocks)}, set(KATA.findall(text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(paths.ROOT)))
def test_what_a_page_names_is_there(page):
    text = page.read_text("utf-8")
    targets, named = typed(text)
    assert targets <= TARGETS and named <= {*VERBS}
    for link in LINK.findall(text):
        if page.parent != paths.DOCS or page.name != "learners.md":  # that page is the README of the bundle
            assert (page.parent / link).exists(), link


def test_what_a_message_names_is_there():
    """In the strings of the grader: each `make …` of a sentence is a target, each EX is an exercise."""
    numbers = {exercise.folder[:2] for exercise in catalog.exercises()}
    seen = 0
    for file in paths.GRADER.rglob("*.py"):
        if "checks" in file.relative_to(paths.GRADER).parts:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for target, rest in re.findall(r"\bmake ([a-z][a-z0-9-]*)((?: [A-Z]+=\S+)+)", node.value):
                    seen += 1
                    assert target in TARGETS, f"{file}: make {target}"
                    for number in re.findall(r"\bEX=(\d\d)\b", rest):
                        assert number in numbers, f"{file}: EX={number}"
    assert seen > 20


def test_a_target_that_is_gone_is_found():
    assert typed("Type `make no-such-thing` now.\n```\nmake other EX=03\n```\n`kata gone`") == (
        {"no-such-thing", "other"},
        {"gone"},
    )
