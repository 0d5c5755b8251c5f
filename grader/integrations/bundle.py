"""What learners are handed: the bundle, and the folder that `kata init` makes.

The bundle is one zip: lessons, stubs, hints, and the grader with only the documented checks. It holds only what is
listed here; solutions, wrong versions and hidden checks are not. An exercise.toml is included without the hidden
checks, except for the sum of their points. The same tree gives a zip with the same bytes. In a learner's own folder are
lessons, stubs, hints, figures and a Makefile, and the grader stays outside. Git keeps what was handed out as a commit,
so that `kata update` can merge what a newer version hands out.
"""

import ast
import io
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader import catalog
from grader.catalog import cards, paths, project, stubs
from grader.catalog.errors import WrongUse
from grader.desk import checkout

TOP = "attention-kata"  # the folder inside the zip
WHOLE = ("constraints.txt", "pyproject.toml", "AGENTS.md", "LICENSE", "SECURITY.md", ".gitignore")
PARTS = (".py", ".css", ".js", ".json", ".html", ".svg", ".toml")  # of the grader's files
AUTHORS = {"scaffold.py"}  # files of the grader that show how hidden checks are written
UNUSED = {"__pycache__", "right"}  # folders that no grading reads
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say
IN_FOLDER = ("AGENTS.md", "LICENSE", ".gitignore", ".vscode/tasks.json")
LEFT_OUT = (".pt", ".safetensors", "train.py", "tokenizer.json", "config.json", "stories.py")
UVX = ",$(if $(shell command -v uvx),uvx --from 'git+{address}' kata)"
KATA = """\
# Every target is a verb of kata: `make check EX=03` is `kata check EX=03`.
# `kata` is what pipx or uv has put on your PATH. To use another one: make KATA=/path/to/kata check EX=03
.DEFAULT_GOAL := welcome
MAKEFLAGS += --no-print-directory
KATA := $(or $(shell command -v kata){uvx})
ifeq ($(KATA),)
  $(error There is no kata on your PATH. Type: pipx ensurepath, or uv tool update-shell, and open a new terminal)
endif
GRADER = exec $(KATA) --make

"""
OWN, RULE = "# Of this repository.\n", "# One rule:"  # how two parts of the Makefile begin


def build() -> bytes:
    """The zip as bytes. Raises WrongUse in a copy that is a bundle itself."""
    if not paths.SOLUTIONS.is_dir():
        raise WrongUse("This copy holds no solutions, so it makes no bundle. Use the project's own repository.")
    return zip_files({f"{TOP}/{name}": content for name, content in files()})


def zip_files(content: dict[str, bytes], programs: tuple[str, ...] = ()) -> bytes:
    """A zip with these files, with the same bytes for the same files, whatever line endings the checkout has.

    programs: the names of executable files.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(content):
            info = zipfile.ZipInfo(name, DATE)
            info.create_system = 3  # Unix, on Windows too
            info.external_attr = (0o100755 if name in programs else 0o100644) << 16
            archive.writestr(info, with_newlines(content[name]), zipfile.ZIP_DEFLATED, compresslevel=9)
    return buffer.getvalue()


def with_newlines(content: bytes) -> bytes:
    r"""The content with `\n` at the end of each line. A file with a NUL is binary, as for git, and stays as it is."""
    return content if b"\0" in content else content.replace(b"\r\n", b"\n")


def files() -> Iterator[tuple[str, bytes]]:
    """The bundle's files: name and content."""
    yield "README.md", paths.module("integrations/templates/bundle.md").read_bytes()
    yield "Makefile", makefile(paths.at_root("Makefile").read_text("utf-8")).encode()
    yield "docs/promises.md", paths.PROMISES.read_bytes()
    yield ".github/workflows/grade.yml", paths.module("integrations/templates/grade.yml").read_bytes()
    for name in WHOLE:
        yield name, paths.at_root(name).read_bytes()
    for path in sorted(paths.GRADER.rglob("*")):
        inside = path.relative_to(paths.GRADER)
        if (
            path.is_file()
            and path.suffix in PARTS
            and inside.parts[0] != "checks"
            and inside.name not in AUTHORS
            and "__pycache__" not in inside.parts
        ):
            yield f"grader/{inside.as_posix()}", path.read_bytes()
    for exercise in catalog.exercises():
        yield from of_exercise(exercise.folder)


def whole() -> Iterator[tuple[str, bytes]]:
    """All files that grading with every check needs, also the solutions. For autograders, not for learners."""
    for name in ("README.md", *WHOLE):
        yield name, paths.at_root(name).read_bytes()
    for room in (paths.GRADER, paths.SOLUTIONS):
        for path in sorted(room.rglob("*")):
            if path.is_file() and (path.suffix in PARTS or path.name == "mistakes.md") and not UNUSED & {*path.parts}:
                yield path.relative_to(paths.ROOT).as_posix(), path.read_bytes()
    for exercise in catalog.exercises():
        yield from trained_model(exercise.folder)


def of_exercise(folder: str) -> Iterator[tuple[str, bytes]]:
    """One exercise: its lesson, a fresh stub, its hints, its documented checks, and the problems where a path ends."""
    checks_folder, exercise_folder = f"grader/checks/{folder}", f"exercises/{folder}"
    public = paths.documented_checks(folder)
    public_checks = check_names(public)
    stub = stubs.make(paths.solution(folder).read_text("utf-8")).encode()
    slug = paths.slug(folder)
    yield f"{exercise_folder}/{slug}.py", stub  # not the file in this checkout, which somebody may have filled in
    yield f"{checks_folder}/{slug}.stub", stub
    beside = paths.handed_out(folder)  # not what a learner has in a folder of their own
    for path in (paths.lesson(folder), paths.hints(folder)):
        yield f"{exercise_folder}/{path.name}", (beside / path.name).read_bytes()
    if (problems := beside / paths.problems(folder).name).exists():
        yield f"{exercise_folder}/{problems.name}", problems.read_bytes()
    if paths.review(folder).exists():  # an answer in code is a piece of the solution
        questions = cards.questions(paths.review(folder).read_text("utf-8"))
        yield f"{exercise_folder}/{paths.review(folder).name}", questions.encode()
    for pattern in ("experiment.py", "measure_*.py", "*.svg"):
        for path in sorted(beside.glob(pattern)):
            yield f"{exercise_folder}/{path.name}", path.read_bytes()
    yield from trained_model(folder)
    yield from figure(folder)
    yield f"{checks_folder}/{public.name}", public.read_bytes()
    text = points_shown(paths.exercise_toml(folder).read_text("utf-8"), public_checks)
    yield f"{checks_folder}/exercise.toml", numbers_shown(text, public_checks).encode()


def trained_model(folder: str) -> Iterator[tuple[str, bytes]]:
    """The trained model of an exercise and the script that trains it, where it has them."""
    for path in (paths.trained(folder), paths.trainer(folder), *paths.model_files(folder)):
        if path.exists():
            yield f"exercises/{folder}/{path.name}", path.read_bytes()


def figure(folder: str) -> Iterator[tuple[str, bytes]]:
    """The interactive figure of an exercise, where it has one: what draws it, and its numbers."""
    script = paths.handed_out(folder) / paths.figure_script(folder).name
    if script.exists() and paths.figure_data(folder).exists():
        yield f"exercises/{folder}/figure.js", script.read_bytes()
        yield f"grader/checks/{folder}/figure.py", paths.figure_data(folder).read_bytes()


def check_names(path: Path) -> set[str]:
    """The checks that a file defines."""
    tree = ast.parse(path.read_text("utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {name.removeprefix("test_") for name in names if name.startswith("test_")}


def points_shown(toml: str, public_checks: set[str]) -> str:
    """An exercise.toml without comments and with only the sum of the points of hidden checks."""
    lines, section, hidden = [], "", 0.0
    for line in toml.splitlines():
        section = line.strip() if line.startswith("[") else section
        entry = re.fullmatch(r"(\w+)\s*=\s*([\d.]+)\s*(#.*)?", line)
        if line.lstrip().startswith("#"):
            continue
        if section == "[points]" and entry and entry[1] not in public_checks:
            hidden += float(entry[2])
        else:
            lines.append(line)
    return f"hidden_points = {hidden:g}\n" + "\n".join(lines) + "\n"


def numbers_shown(toml: str, public_checks: set[str]) -> str:
    """An exercise.toml without the numbers that only hidden checks use."""
    beginning, *tables = re.split(r"(?m)^(?=\[)", toml)
    checks = [re.search(r'(?m)^check = "(\w+)"$', table) for table in tables]
    is_hidden = [check is not None and check[1] not in public_checks for check in checks]
    return beginning + "".join(table for table, hidden in zip(tables, is_hidden, strict=True) if not hidden)


def makefile(text: str) -> str:
    """The Makefile without what only the project's own repository needs."""
    return text[: text.index(OWN)] + text[text.index(RULE) :]


def files_of_folder() -> dict[str, bytes]:
    """What a folder holds at first, by name: all that is handed out, and the file that marks it, with the version."""
    found = {name: paths.at_root(name).read_bytes() for name in IN_FOLDER}
    found["README.md"] = paths.module("integrations/templates/own_folder.md").read_bytes()
    found["Makefile"] = makefile_of_folder(paths.at_root("Makefile").read_text("utf-8")).encode()
    found["docs/promises.md"] = paths.PROMISES.read_bytes()
    found[paths.MARKER.name] = f"{project.version()}\n".encode()
    for exercise in catalog.exercises():
        for name, content in of_exercise(exercise.folder):
            if name.startswith("exercises/") and not name.endswith(LEFT_OUT):
                found[name] = content
    return found


def make_folder(target: Path) -> bool:
    """Make the folder, at once or not at all. Returns whether git has begun in it.

    Raises WrongUse where something is there already, or it cannot be written.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise WrongUse(f"{target} is there already. Choose another name: kata init {paths.typed(f'{target}-2')}")
    parent = target.resolve().parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".kata-init-", dir=parent) as temporary:
            begun = Path(temporary) / target.name
            begun.mkdir()
            handed_out = files_of_folder()
            checkout.write_files(begun, handed_out)
            has_git = checkout.begin(begun, handed_out, project.version())
            if target.exists():
                target.rmdir()
            os.rename(begun, target)
    except OSError as error:
        raise WrongUse(f"{target} cannot be made: {error.strerror}. Choose another place.") from None
    return has_git


def makefile_of_folder(text: str) -> str:
    """The Makefile of a learner's folder: it calls the kata on the PATH, or by uvx if that knows from where."""
    is_known = project.UNFILLED not in project.published()
    found = KATA.replace("{uvx}", UVX.format(address=project.published()) if is_known else "")
    return found + text[text.index(RULE) :]
