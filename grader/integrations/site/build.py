"""The build of the site. mkdocs runs in a process of its own, so torch, which figures need, is imported only there."""

import os
import subprocess
import sys
from pathlib import Path

from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse


def build(out: Path) -> int:
    """Write the site to a folder. Returns the number of its pages.

    Raises WrongUse if mkdocs is not installed, a page has an error or the folder is somebody else's.
    """
    try:
        import material  # noqa: F401
    except ImportError:
        raise errors.missing_extra("The site needs mkdocs-material", "docs") from None
    if out.exists() and not (out / "search").is_dir() and any(out.iterdir()):
        raise WrongUse(f"{out} is not empty and no site of ours. Name another folder: OUTPUT=site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(out.resolve())]
    roots = os.pathsep.join([str(paths.ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    configuration = ["--config-file", str(paths.at_root("mkdocs.yml"))]
    # The tensors of figures are tiny; threads would only wait for each other.
    environment = {**os.environ, "PYTHONPATH": roots, "NO_MKDOCS_2_WARNING": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*command, *configuration], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise WrongUse(f"The site cannot be built.\n{done.stderr.strip()}")
    return len({*out.rglob("*.html")} - {out / "404.html"})
