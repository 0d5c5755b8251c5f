"""Who may import whom: every import in grader/ is held against the table of rooms in docs/architecture.md."""

import ast
import functools
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from globs import some

from grader import catalog
from grader.catalog import paths

STANDARD = set(sys.stdlib_module_names)
ROW = re.compile(r"^\| `(?:grader/)?(?P<room>\w+)(?:/|\.py)` \|.*\|(?P<imports>[^|]*)\|$", re.M)
ENTRANCES = {"authors", "notebook", "sentence"}  # single files at the top, whose names others rely on
HEAVY = ("nbgrader", "nbformat", "nbclient", "jupytext", "jsonschema", "distributed")  # seconds to import
LIGHT = ["catalog.paths", "catalog", "records.results", "records.submission", "sandbox.forkserver"]
LIGHT += ["cli", "cli.learn", "desk.progress"]


def modules(folder: Path = paths.GRADER) -> list[Path]:
    """Every module of the grader but the checks, which have a rule of their own."""
    found = [path for path in folder.rglob("*.py") if paths.CHECKS not in path.parents]
    assert len(found) > 10, f"{folder} holds no modules: is the glob right?"
    return found


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@functools.cache
def imports(path: Path, top_level_only: bool = False) -> set[str]:
    """Dotted names that a file imports; relative ones begin with a dot."""
    found, tree = set(), parsed(path)
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "grader":
            found |= {f"grader.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def strays(files: list[Path], allowed) -> list[str]:
    assert files, "no files were found: is the glob right?"
    return [
        f"{path.relative_to(paths.ROOT)} imports {name}"
        for path in files
        for name in sorted(imports(path))
        if not allowed(name)
    ]


def rooms() -> dict[str, set[str]]:
    """The table of docs/architecture.md: each room, and the rooms that it may import."""
    text = (paths.ROOT / "docs" / "architecture.md").read_text("utf-8").partition("## The rooms of `grader/`")[2]
    return {row["room"]: set(re.findall(r"`(\w+)`", row["imports"])) for row in ROW.finditer(text)}


def room_of(path: Path) -> str:
    return path.relative_to(paths.GRADER).with_suffix("").parts[0]


def test_the_table_names_every_room():
    there = {room_of(path) for path in modules()} - {"__init__", "__main__"}
    assert there - ENTRANCES == set(rooms()) - ENTRANCES - {"checks"}


def test_arrows_point_downward():
    """A room imports only what is below it in the table, so the rooms cannot import in circles."""
    order = list(rooms())
    for room, allowed in rooms().items():
        assert allowed <= set(order[order.index(room) + 1 :]), f"{room} would import upward"


@pytest.mark.parametrize("room", rooms())
def test_a_room_imports_only_what_the_table_allows(room):
    files = [path for path in some(paths.GRADER.rglob("*.py")) if room_of(path) == room]
    files = [path for path in files if path.name != "conftest.py"]  # pytest's own entrance to judge/plugin.py
    allowed = rooms()[room] | {room}
    ours = "grader."

    def fits(name: str) -> bool:
        return not name.startswith(ours) or name.removeprefix(ours).partition(".")[0] in allowed

    assert strays(files, fits) == []


def test_no_module_name_stands_twice():
    names = Counter(path.stem for path in modules() if path.stem not in ("__init__", "__main__", *ENTRANCES))
    assert [name for name, count in names.items() if count > 1] == []


def test_the_worker_imports_torch_and_the_standard_library_alone():
    def allowed(name):
        return name.startswith(".") or name.partition(".")[0] in STANDARD | {"torch"}

    with_triton = [paths.WORKER / "kernels.py", paths.WORKER / "compiling.py"]  # where an exercise needs it
    assert strays([path for path in paths.WORKER.rglob("*.py") if path not in with_triton], allowed) == []
    assert strays(with_triton, lambda name: allowed(name) or name.partition(".")[0] in ("numpy", "triton")) == []


def test_exercises_and_solutions_import_torch_and_the_standard_library_alone():
    files = [*some(paths.EXERCISES.rglob("*.py")), *some(paths.SOLUTIONS.rglob("*.py"))]
    files = [path for path in files if path.parent.name != "right"]  # people import what they like
    beside = {path.stem for path in files}  # a script may use another one of its folder
    for path in files:
        known = STANDARD | {"torch", *catalog.find(path.parent.name).limits.needs} | beside
        assert strays([path], lambda name: name.partition(".")[0] in known) == []  # noqa: B023


def test_checks_import_only_what_the_grader_offers_their_authors():
    def allowed(name):
        return name in ("grader.authors", "grader.sentence") or name.partition(".")[0] in STANDARD | {"torch"}

    assert strays(list(paths.CHECKS.rglob("*_*/*.py")), allowed) == []


def test_tests_are_collected_without_what_takes_seconds_to_import():
    """Every process of xdist collects every file: see tests/extras.py."""
    heavy = re.compile(rf"^(?:import|from|pytest.importorskip\(\W)\s*(?:{'|'.join(HEAVY)})\b", re.M)
    ours = [path for path in modules() if heavy.search(path.read_text("utf-8"))]
    assert ours, "no module of the grader imports nbgrader: is the pattern right?"
    heavy_too = {".".join(path.relative_to(paths.ROOT).with_suffix("").parts) for path in ours}
    for path in some((paths.ROOT / "tests").rglob("*.py")):
        assert not heavy.search(path.read_text("utf-8")), path
        if "grader.integrations.nbgrader" in path.read_text("utf-8"):
            tree = parsed(path)
            froms = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
            names = {f"{node.module}.{alias.name}" for node in froms for alias in node.names}
            assert not heavy_too & (names | imports(path, top_level_only=True)), path


def test_documented_checks_use_no_solution():
    for path in some(paths.CHECKS.glob("*/test_documented.py")):
        names = {node.arg for node in ast.walk(parsed(path)) if isinstance(node, ast.arg)}
        assert "reference" not in names, path


def test_no_exercise_is_named_in_the_graders_code():
    names = [paths.slug(path.name) for path in paths.EXERCISES.iterdir() if path.is_dir()]
    assert names
    for path in modules():
        if path.name == "sentence.py":
            continue
        strings = {n.value for n in ast.walk(parsed(path)) if isinstance(n, ast.Constant)}
        for name in names:
            assert name not in strings, f"{path.name} names {name}"


def test_what_starts_first_needs_no_torch():
    """`check` starts its fork server before it imports torch itself; who leads a class never imports it.

    Nor does any verb to say its options.
    """
    lines = ["import sys, importlib"]
    lines += ["def heavy(name): print(name, *sorted({'torch', 'pytest', 'rich', 'numpy'} & set(sys.modules)))"]
    for name in (*LIGHT, "classroom.run"):
        lines += [f"importlib.import_module('grader.{name}')", f"heavy('{name}')"]
    lines += ["cli = sys.modules['grader.cli']", "help = cli.lists('kata')", "heavy('--help')"]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=paths.ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines() == [*LIGHT, "classroom.run rich", "--help rich"], done.stderr


def test_only_one_module_builds_paths():
    """Besides __main__ and folders, which come before all imports, the worker, and what is copied into notebooks."""
    others = ("paths.py", "folders.py", "__main__.py", "in_notebook.py")
    looked = [path for path in modules() if path.name not in others]
    built = [
        f"{path.relative_to(paths.ROOT)}:{line}"
        for path in looked
        if paths.WORKER not in path.parents
        for line in sorted(builds_paths(parsed(path)))
    ]
    assert built == []


def test_the_guard_of_paths_sees_each_way_to_build_one_and_lets_them_be_used():
    for source in (
        "HERE = Path(__file__).parent",
        "x = paths.CHECKS / folder / 'a.py'",
        "x = (paths.ROOT / 'Makefile').read_text()",
        "x = paths.PROGRESS.with_name('lock')",
        "x = f'{paths.ROOT}/grader'",
        "from grader.catalog.paths import ROOT",
    ):
        assert builds_paths(ast.parse(f"x = 1\n{source}\n")) == {2}, source
    uses = "paths.ROOT.is_dir(), path.relative_to(paths.ROOT), sorted(paths.GRADER.rglob('*'))"
    assert builds_paths(ast.parse(uses)) == set()


def builds_paths(tree: ast.Module) -> set[int]:
    """The lines in which a path below a folder of ours is put together."""

    def ours(node: ast.AST) -> bool:
        """A constant of paths.py."""
        return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "paths"

    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id="__file__") | ast.ImportFrom(module="grader.catalog.paths"):
                found.add(node.lineno)
            case ast.BinOp(op=ast.Div(), left=left) if ours(left):
                found.add(node.lineno)
            case ast.Attribute(value=value, attr="parent" | "parents" | "joinpath" | "with_name" | "with_suffix"):
                found |= {node.lineno} if ours(value) else set()
            case ast.JoinedStr(values=[ast.FormattedValue(value=value), ast.Constant(value=str(rest)), *_]):
                found |= {node.lineno} if ours(value) and rest.startswith("/") else set()
    return found
