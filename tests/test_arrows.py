"""The arrows of the house: who may import whom (CONTRIBUTING.md). Read from the source; one is tried."""

import ast
import subprocess
import sys
from pathlib import Path

from grader import paths

STANDARD = set(sys.stdlib_module_names)


def imports(path: Path, top_level_only: bool = False) -> set[str]:
    """Dotted names that a file imports; relative ones begin with a dot."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = tree.body if top_level_only else ast.walk(tree)
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def strays(files, allowed) -> list[str]:
    return [
        f"{path.relative_to(paths.ROOT)} imports {name}"
        for path in files
        for name in sorted(imports(path))
        if not allowed(name)
    ]


def test_the_worker_imports_torch_and_the_standard_library_alone():
    def allowed(name):
        return name.startswith(".") or name.partition(".")[0] in STANDARD | {"torch"}

    assert strays(paths.WORKER.rglob("*.py"), allowed) == []


def test_exercises_and_solutions_import_torch_and_the_standard_library_alone():
    files = [*paths.EXERCISES.rglob("*.py"), *paths.SOLUTIONS.rglob("*.py")]
    assert len(files) > 20
    wrong_may_use_numpy = [path for path in files if "wrong" in path.parts]
    others = [path for path in files if "wrong" not in path.parts]
    assert strays(others, lambda name: name.partition(".")[0] in STANDARD | {"torch"}) == []
    assert strays(wrong_may_use_numpy, lambda name: name.partition(".")[0] in STANDARD | {"torch", "numpy"}) == []


def test_checks_import_only_what_the_grader_offers_their_authors():
    def allowed(name):
        return name in ("grader.authors", "grader.sentence") or name.partition(".")[0] in STANDARD | {"torch"}

    files = list(paths.CHECKS.rglob("*.py"))
    assert files
    assert strays(files, allowed) == []


def test_documented_checks_use_no_solution():
    for path in paths.CHECKS.glob("*/test_documented.py"):
        tree = ast.parse(path.read_text("utf-8"))
        names = {
            argument.arg for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for argument in node.args.args
        }
        assert "reference" not in names, path


def test_no_exercise_is_named_in_the_graders_code():
    folders = [path.name for path in paths.EXERCISES.iterdir() if path.is_dir()]
    names = [paths.slug(folder) for folder in folders]
    for path in paths.GRADER.rglob("*.py"):
        if paths.CHECKS in path.parents or path.name == "sentence.py":
            continue
        strings = [n.value for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Constant)]
        for name in names:
            assert name not in strings, f"{path.name} names {name}"


def test_the_command_line_imports_nothing_heavy_before_its_nursery():
    for name in ("cli", "catalog", "nursery", "paths", "errors", "submission", "results", "progress"):
        for imported in imports(paths.GRADER / f"{name}.py"):
            assert imported.partition(".")[0] not in ("torch", "pytest", "rich", "numpy"), f"{name} imports {imported}"
    top = imports(paths.GRADER / "commands" / "check.py", top_level_only=True)
    assert not any(name.partition(".")[0] in ("torch", "pytest", "rich") for name in top)


def test_who_leads_a_class_needs_no_torch():
    """It starts at once, and the grading processes import torch meanwhile."""
    ask = "import sys, grader.classroom.run, grader.classroom.show; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", ask], cwd=paths.ROOT, capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_only_one_module_builds_paths():
    """Besides __main__, which guards sys.path before anything of ours can be imported."""
    for path in paths.GRADER.rglob("*.py"):
        if path.name in ("paths.py", "__main__.py") or paths.CHECKS in path.parents:
            continue
        assert "__file__" not in path.read_text("utf-8") or path.parent.name in ("worker", "sandbox"), path
