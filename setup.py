"""Puts exercises, solutions and what else learners get into the wheel, as grader/project: see pyproject.toml too."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
FILES = ("AGENTS.md", "LICENSE", "Makefile", "pyproject.toml", ".gitignore", ".vscode/tasks.json", "docs/promises.md")
FOLDERS = ("exercises", "solutions")
OF_SOMEBODY = ("__pycache__", ".*", "*.ipynb", "mine.pt", "*.before-*", "*.md.orig")  # who worked in this checkout


class BuildWithExercises(build_py):
    """Builds the package, and the project's files inside of it."""

    def run(self) -> None:
        """Copy everything. An editable installation uses the checkout as it is."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "grader/project"
        shutil.rmtree(target, ignore_errors=True)
        for name in FILES:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
        for name in FOLDERS:
            shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns(*OF_SOMEBODY))
        for stub in (target / "exercises").glob("*/*.py"):  # made from the solution, for whom it is handed out
            if stub.stem == stub.parent.name.partition("_")[2]:
                stub.unlink()


setup(cmdclass={"build_py": BuildWithExercises})
