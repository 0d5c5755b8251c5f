"""What to say where an extra of pyproject.toml is not installed. grader/venv.py installs them for make."""

import sys
from pathlib import Path

from grader.catalog import paths
from grader.catalog.errors import WrongUse


def missing(need: str, extra: str) -> WrongUse:
    """The error for what an extra would bring. need: "Pictures as files need matplotlib"."""
    project = paths.shown(paths.ROOT)
    return WrongUse(f"{need}. Type: {paths.shown(Path(sys.executable))} -m pip install -e '{project}[{extra}]'")
