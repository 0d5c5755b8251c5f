"""Opens the page of a lesson with its figure in a browser, from a process of its own: the watch goes on meanwhile."""

import os
import platform
import subprocess
import sys
from pathlib import Path

from grader.catalog import paths

MAKER = "grader.integrations.lesson_page"  # a module that writes the page of the exercise that is named


def open_lesson(folder: str) -> str:
    """Begin to write the page and to open it. Returns what to tell the learner."""
    is_seen = has_browser()
    subprocess.Popen(
        [sys.executable, "-m", MAKER, folder, *(["--open"] if is_seen else [])],
        cwd=paths.ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    page = paths.shown(target(folder))
    where = f"{page} opens in your browser" if is_seen else f"open {page} in a browser"
    return f"Lesson {folder[:2]} with its figure: {where}."


def target(folder: str) -> Path:
    """The page: of the site where `make docs` built it, else one of its own."""
    site = paths.site_page(folder)
    return site if site.exists() else paths.lesson_page(folder)


def has_browser() -> bool:
    """Whether this machine has a window for a browser. One within the terminal would draw over the watch."""
    if sys.platform == "darwin" or "microsoft" in platform.release().lower():
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
