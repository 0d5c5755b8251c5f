"""Whatever a lesson, hint, page or message tells people to type is there: targets, verbs, files, functions, methods."""

import ast
import builtins
import functools
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
import torch

from grader import catalog
from grader.catalog import paths
from grader.cli import VERBS

MAKE = re.compile(r"`make ([a-z][a-z0-9-]*)")
IN_BLOCK = re.compile(r"^(?:\$ )?make ([a-z][a-z0-9-]*)(?=$| +[A-Z#])", re.M)
KATA = re.compile(r"(?:`|^)kata ([a-z][a-z0-9-]*)", re.M)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
BLOCK = re.compile(r"^```\n(.*?)^```", re.M | re.S)
TARGETS = {*VERBS, *re.findall(r"^([a-z][a-z0-9-]*):(?!=)", paths.at_root("Makefile").read_text("utf-8"), re.M)}
PAGES = [
    *(page for page in paths.ROOT.glob("*.md") if page.name != "CHANGELOG.md"),  # it names what is gone
    *paths.DOCS.glob("*.md"),
    *paths.EXERCISES.glob("*/*.md"),
    *paths.SOLUTIONS.glob("*/notice.md"),
]


def typed(text: str) -> tuple[set[str], set[str]]:
    """The targets of make and the verbs of kata that a text names."""
    blocks = "\n".join(BLOCK.findall(text))
    return {*MAKE.findall(text), *IN_BLOCK.findall(blocks)}, set(KATA.findall(text))


def test_what_a_page_names_is_there():
    gone = []
    for page in PAGES:
        text = page.read_text("utf-8")
        targets, named = typed(text)
        links = LINK.findall(text)
        missing = [
            *(targets - TARGETS),
            *(named - {*VERBS}),
            *(one for one in links if not (page.parent / one).exists()),
        ]
        gone += [(page.relative_to(paths.ROOT), one) for one in missing]
    assert gone == []


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


# Functions and methods that are called in a text: `torch.tril(…)`, `x.transpose(1, 2)`, `softmax_naive(x)`.

CODE = re.compile(r"^```(?P<kind>\w*)\n(?P<block>.*?)^```|`(?P<inline>[^`\n]+)`", re.M | re.S)
CALL = re.compile(r"(?<![\w`])(?P<owner>(?:[A-Za-z_]\w*\.)*)(?P<name>[A-Za-z_]\w*)\(")
OWNERS = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "pytest": pytest}
TYPES = (
    torch.Tensor, torch.nn.Module, torch.nn.ModuleList, torch.Generator, torch.autograd.function.FunctionCtx,
    list, dict, str, tuple, set, bytes, int, float, Path,
)  # fmt: skip
METHODS = {name for one in TYPES for name in dir(one)}
OF_OTHERS = {  # from code of other projects, which a text quotes; and names that stand for any function
    "SLURMCluster", "KubeCluster", "exp2f", "flash_attn_func", "flash_attn_varlen_func", "flash_attn_with_kvcache",
    "apply_rotary_emb", "Conv1D", "attn", "ln_1", "ln_2", "f", "t_", "model", "moved", "qkv",
}  # fmt: skip


@functools.cache
def ours() -> set[str]:
    """What our own code defines or imports, and the layers that its classes hold."""
    files = [*paths.SOLUTIONS.glob("*/*.py"), *paths.EXERCISES.glob("*/*.py"), *paths.GRADER.rglob("*.py")]
    found: set[str] = {*vars(builtins)}
    for file in [*files, *(paths.ROOT / "tests").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.Import(names=names) | ast.ImportFrom(names=names):
                    found |= {alias.asname or alias.name for alias in names}
                case ast.Assign(targets=[ast.Attribute(attr=attribute)]):
                    found.add(attribute)
    return found


@functools.cache
def of_triton() -> dict[str, ModuleType]:
    """Triton and its language, by the names that texts use; nothing where it is not installed."""
    if importlib.util.find_spec("triton") is None:
        return {}
    import triton
    import triton.language

    return {"triton": triton, "tl": triton.language}


def unknown(text: str) -> set[str]:
    """The calls in a text's code that nothing here defines: neither torch, nor our code, nor the text itself."""
    found = set()
    for code in CODE.finditer(text):
        if code["block"] is not None and code["kind"] != "python":
            continue  # a command, a picture, another language
        for call in CALL.finditer(code["block"] or code["inline"]):
            if not is_known(call["owner"].rstrip("."), call["name"], text):
                found.add(f"{call['owner']}{call['name']}")
    return found


def is_known(owner: str, name: str, text: str) -> bool:
    """Whether there is such a function, or such a method of what the text may mean."""
    first, *rest = owner.split(".")
    if first in ("tl", "triton") and not of_triton():
        return True
    if known := (OWNERS | of_triton()).get(first):
        for part in (*rest, name):
            known = getattr(known, part, None)
        return known is not None
    if name in METHODS or name in ours() or name in OF_OTHERS or first == "self":
        return True  # what `self` has is a matter of the class that is written, or of one that is quoted
    if owner:
        return False
    return hasattr(torch, name) or bool(re.search(rf"\b(?:def|class) {name}\b|\b{name} = ", text))


def test_what_a_page_calls_is_there():
    found = {page.relative_to(paths.ROOT): unknown(page.read_text("utf-8")) for page in PAGES}
    assert {page: names for page, names in found.items() if names} == {}


def test_a_call_of_nothing_is_found():
    text = "`torch.sofmax(x)`, `x.mask_filled(1)`, `softmax_naif(x)`, `x.tril()`, `softmax_naive(x)`\n```\nls(x)\n```\n"
    assert unknown(text) == {"torch.sofmax", "x.mask_filled", "softmax_naif"}
    assert sum(len(CALL.findall(page.read_text("utf-8"))) for page in PAGES) > 1000


# Files, folders and names of modules in backquotes: `judge/trials.py`, `exercises/NN_slug/figure.js`, `process.Lent`.

ABOUT_THE_CODE = [
    *(paths.at_root(name) for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "AGENTS.md")),
    *paths.DOCS.glob("*.md"),
]
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


@functools.cache
def our_places() -> str:
    """Each file and folder of the project, with a slash before it and a line for each; a folder ends with a slash."""
    folders = [paths.GRADER, paths.EXERCISES, paths.SOLUTIONS, paths.DOCS, paths.ROOT / "tests", paths.ROOT / ".ci"]
    places = [place for folder in folders for place in folder.rglob("*") if "__pycache__" not in place.parts]
    names = [place.relative_to(paths.ROOT).as_posix() + "/" * place.is_dir() for place in (*places, *folders)]
    return "\n".join(f"/{name}" for name in [*names, *(path.name for path in paths.ROOT.glob("*.py"))])


@functools.cache
def defined(module: str) -> set[str]:
    """What the modules or rooms of the grader with this name define at their top."""
    found: set[str] = set()
    for file in (*paths.GRADER.rglob(f"{module}.py"), *paths.GRADER.rglob(f"{module}/__init__.py")):
        for node in ast.parse(file.read_text("utf-8")).body:
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                    found.add(name)
                case ast.Assign(targets=targets):
                    found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def is_a_place(code: str) -> bool:
    """Whether the project has this file or folder, from its root, from a room, or by its name alone."""
    pattern = re.escape(code).replace(r"\*", "[^/\n]*").replace("NN_slug", r"\d\d_\w+")
    return bool(re.search(f"/{pattern}/?$", our_places(), re.M))


def is_a_name(owner: str, name: str) -> bool:
    """Whether a module of ours, or torch, has this name."""
    first, *rest = owner.split(".")
    if known := (OWNERS | of_triton()).get(first):
        for part in (*rest, name):
            known = getattr(known, part, None)
        return known is not None
    return name in defined([first, *rest][-1]) or is_a_place(f"{owner}.{name}".replace(".", "/") + ".py")


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


def test_a_file_that_is_gone_is_found():
    text = (
        "`judge/trials.py`, `judge/trails.py`, `grader/office/`, `process.Lent`, `process.Rented`, `solutions/NN_slug/`"
    )
    assert gone(text) == {"judge/trails.py", "grader/office/", "process.Rented"}
