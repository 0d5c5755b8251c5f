"""Whatever a lesson, hint, page or message tells people to type is there: targets, verbs, files, functions, methods."""

import functools
import re

from grader import catalog
from grader.catalog import paths
from grader.cli import author, learn, teach  # noqa: F401 (they declare the verbs)
from grader.cli.options import DECLARED

MAKE = re.compile(r"`make ([a-z][a-z0-9-]*)")
IN_BLOCK = re.compile(r"^(?:\$ )?make ([a-z][a-z0-9-]*)(?=$| +[A-Z#])", re.M)
KATA = re.compile(r"(?:`|^)kata ([a-z][a-z0-9-]*)", re.M)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
BLOCK = re.compile(r"^```\n(.*?)^```", re.M | re.S)
TARGETS = {*DECLARED, *re.findall(r"^([a-z][a-z0-9-]*):(?!=)", paths.at_root("Makefile").read_text("utf-8"), re.M)}
PAGES = [
    *(page for page in paths.ROOT.glob("*.md") if page.name != "CHANGELOG.md"),  # it names what is gone
    *paths.DOCS.glob("*.md"),
    *paths.EXERCISES.glob("*/*.md"),
    *paths.SOLUTIONS.glob("*/notice.md"),
]
# Files, folders and names of modules in backquotes: `judge/trials.py`, `exercises/NN_slug/figure.js`, `process.Lent`.
ABOUT_THE_CODE = [*map(paths.at_root, ("README.md", "CONTRIBUTING.md", "SECURITY.md", "AGENTS.md"))]
ABOUT_THE_CODE += paths.DOCS.glob("*.md")
PLACE = re.compile(r"[\w.*-]+/[\w./*-]*|[\w*-]+\.(?:py|js)")  # a path, or a file of code by its name alone
NAME = re.compile(r"(?P<owner>[a-z_]\w*(?:\.[a-z_]\w*)*)\.(?P<name>\w+)")
TOP = {"grader", "tests", "docs", "exercises", "solutions", ".ci"}
ROOMS = {path.name for path in (*paths.GRADER.iterdir(), *(paths.ROOT / "tests").iterdir()) if path.is_dir()}
# What a run writes, a learner hands in or an author adds; and the owners of names that are no module of ours.
NOT_OURS = {
    "autograder.py", "documented_checks.py", "grader.py", "grader/project", "measure_NAME.py", "nbgrader_config.py",
    "sofmax.py", "context_vectors.before-2026-11-22-134500.py", "lastfirst_123_456_context_vectors.py",
    "ada_context_vectors.py", "ex3.py", "lovelaceada_101_9001_context_vectors.py",
}  # fmt: skip
OTHER_OWNERS = {"c", "layer", "learner", "einops"}
DATA = {
    "csv", "db", "docx", "gz", "html", "ipynb", "json", "md", "pdf", "pt", "rar", "safetensors", "sh", "svg", "toml",
    "txt", "yml", "zip",
}  # fmt: skip


def test_what_a_page_names_is_there():
    gone = []
    for page in PAGES:
        text = page.read_text("utf-8")
        targets = {*MAKE.findall(text), *IN_BLOCK.findall("\n".join(BLOCK.findall(text)))}
        missing = [*(targets - TARGETS), *({*KATA.findall(text)} - {*DECLARED})]
        missing += [one for one in LINK.findall(text) if not (page.parent / one).exists()]
        gone += [(page.relative_to(paths.ROOT), one) for one in missing]
    assert gone == []


def test_what_a_message_names_is_there():
    """In the grader's code: each `make …` is a target, each EX is an exercise."""
    numbers = {exercise.folder[:2] for exercise in catalog.exercises()}
    found = [
        (file, target, re.findall(r"\bEX=(\d\d)\b", rest))
        for file in paths.GRADER.rglob("*.py")
        if paths.CHECKS not in file.parents
        for target, rest in re.findall(r"\bmake ([a-z][a-z0-9-]*)((?: [A-Z]+=\S+)+)", file.read_text("utf-8"))
    ]
    assert len(found) > 20
    assert [one for one in found if one[1] not in TARGETS or not set(one[2]) <= numbers] == []


@functools.cache
def our_places() -> str:
    """Each file and folder of the project, with a slash before it and a line for each; a folder ends with a slash."""
    folders = [paths.GRADER, paths.EXERCISES, paths.SOLUTIONS, paths.DOCS, paths.ROOT / "tests", paths.ROOT / ".ci"]
    places = [place for folder in folders for place in folder.rglob("*") if "__pycache__" not in place.parts]
    names = [place.relative_to(paths.ROOT).as_posix() + "/" * place.is_dir() for place in (*places, *folders)]
    return "\n".join(f"/{name}" for name in [*names, *(path.name for path in paths.ROOT.glob("*.py"))])


@functools.cache
def defines(module: str, name: str) -> bool:
    """Whether a module or room of the grader that is called so defines this name at its top."""
    files = [*paths.GRADER.rglob(f"{module}.py"), *paths.GRADER.rglob(f"{module}/__init__.py")]
    return any(re.search(rf"^(?:def |class )?{name}\b", file.read_text("utf-8"), re.M) for file in files)


def is_a_place(code: str) -> bool:
    """Whether the project has this file or folder, from its root, from a room, or by its name alone."""
    pattern = re.escape(code).replace(r"\*", "[^/\n]*").replace("NN_slug", r"\d\d_\w+")
    return bool(re.search(f"/{pattern}/?$", our_places(), re.M))


def is_a_name(owner: str, name: str) -> bool:
    """Whether a module of ours has this name. Those of torch are not looked at."""
    if owner.partition(".")[0] in ("torch", "nn", "F", "pytest", "tl", "triton"):
        return True
    return defines(owner.rpartition(".")[2], name) or is_a_place(f"{owner}.{name}".replace(".", "/") + ".py")


def gone(text: str) -> set[str]:
    """The files, folders and names of modules in a text's backquotes that the project does not have."""
    found = set()
    for code in re.findall(r"`([^`\n]+)`", BLOCK.sub("", text)):
        if PLACE.fullmatch(code):
            is_ours = "/" not in code or code.partition("/")[0] in TOP | ROOMS
            found |= {code} if is_ours and code not in NOT_OURS and not is_a_place(code) else set()
        elif (named := NAME.fullmatch(code)) and named["name"] not in DATA:
            is_ours = named["owner"].partition(".")[0] not in OTHER_OWNERS
            found |= {code} if is_ours and not is_a_name(named["owner"], named["name"]) else set()
    return found


def test_what_a_page_says_of_the_code_is_there():
    found = {page.relative_to(paths.ROOT).as_posix(): gone(page.read_text("utf-8")) for page in ABOUT_THE_CODE}
    assert {page: names for page, names in found.items() if names} == {}
