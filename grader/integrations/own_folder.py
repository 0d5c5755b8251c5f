"""A learner's folder, as `kata init` makes it: lessons, stubs, hints, figures and a Makefile. The grader stays outside.

Git keeps what was handed out as a commit, so that `kata update` can merge what a newer version hands out.
"""

import os
import re
import tempfile
from pathlib import Path

from grader import catalog
from grader.catalog import paths, project
from grader.catalog.errors import WrongUse
from grader.desk import checkout
from grader.integrations import bundle

WHOLE = ("AGENTS.md", "LICENSE", ".gitignore", ".vscode/tasks.json")
LEFT_OUT = (".pt", ".safetensors", "train.py", "portfolio.py", "tokenizer.json", "config.json", "stories.py")
OF_CLONE = {"docs", "hooks"}  # targets that need a clone, beside those of teachers and authors
UVX = ",$(if $(shell command -v uvx),uvx --from 'git+{address}' kata)"
KATA = """\
# `kata` is what pipx or uv has put on your PATH. To use another one: make KATA=/path/to/kata check EX=03
KATA := $(or $(shell command -v kata){uvx})
ifeq ($(KATA),)
  $(error There is no kata on your PATH. Type: pipx ensurepath, or uv tool update-shell, and open a new terminal)
endif
GRADER = exec $(KATA) --make
"""
BUILDING = re.compile(r"^VENV := .*?^READY_TOKENIZERS\b.*?\n", re.M | re.S)  # of the environment that a clone builds
WELCOME = re.compile(r"^# Said before the first build.*?^endif\n", re.M | re.S)
NEEDS = re.compile(r"^# The extra that the exercise EX needs.*?^READY_EX :=.*?\n", re.M | re.S)
TORCH = re.compile(r"^  ifneq \(\$\(filter-out cpu cuda.*?^  endif\n", re.M | re.S)
HEAD = re.compile(r"\A(?:#.*\n)+")
READY = re.compile(r" \$\(READY\w*\)| \$\(if [^()]*(?:\([^()]*\)[^()]*)*\$\(READY_\w+\)\)")


def files() -> dict[str, bytes]:
    """What a folder holds at first, by name: all that is handed out, and the file that marks it, with the version."""
    found = {name: paths.at_root(name).read_bytes() for name in WHOLE}
    found["README.md"] = paths.module("integrations/templates/own_folder.md").read_bytes()
    found["Makefile"] = makefile(paths.at_root("Makefile").read_text("utf-8")).encode()
    found["docs/promises.md"] = paths.PROMISES.read_bytes()
    found[paths.MARKER.name] = f"{project.version()}\n".encode()
    for exercise in catalog.exercises():
        for name, content in bundle.of_exercise(exercise.folder):
            if name.startswith("exercises/") and not name.endswith(LEFT_OUT):
                found[name] = content
    return found


def make(target: Path) -> bool:
    """Make the folder, at once or not at all. Returns whether git has begun in it.

    Raises WrongUse where something is there already, or it cannot be written.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise WrongUse(f"{target} is there already. Choose another name: kata init {target.name}-2")
    parent = target.resolve().parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".kata-init-", dir=parent) as temporary:
            begun = Path(temporary) / target.name
            begun.mkdir()
            handed_out = files()
            checkout.write_files(begun, handed_out)
            has_git = checkout.begin(begun, handed_out, project.version())
            if target.exists():
                target.rmdir()
            os.rename(begun, target)
    except OSError as error:
        raise WrongUse(f"{target} cannot be made: {error.strerror}. Choose another place.") from None
    return has_git


def makefile(text: str) -> str:
    """The Makefile with the learner's targets alone. They call `kata`, and build no environment."""
    lists = re.findall(r"^(?:TEACHERS|AUTHORS) := (.+)$", text, re.M)
    unwanted = OF_CLONE | {target for line in lists for target in line.split()}
    text = bundle.makefile(text, unwanted)
    text = HEAD.sub("# Every target is a verb of kata: `make check EX=03` is `kata check 03`.\n", text)
    for pattern in (WELCOME, NEEDS, TORCH):
        text = pattern.sub("", text, count=1)
    text = BUILDING.sub("", text, count=1)
    text = re.sub(r"(?:^#.*\n)?^GRADER = .*\n", lambda _: _kata(), text, count=1, flags=re.M)
    text = text.replace("PYTHON TORCH VENV WARM", "KATA WARM").replace("$(filter-out PYTHON,$(taken))", "$(taken)")
    text = text.replace(" $(VENV)/%", "")
    blocks = [READY.sub("", block) for block in text.split("\n\n") if "$(VENV)/" not in block]
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(blocks)).rstrip("\n") + "\n"


def _kata() -> str:
    """How the Makefile finds kata: on the PATH, else by uvx, where it is known from where."""
    is_known = project.UNFILLED not in project.published()
    return KATA.replace("{uvx}", UVX.format(address=project.published()) if is_known else "")
