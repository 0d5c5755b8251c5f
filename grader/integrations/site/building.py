"""Builds the site with mkdocs-material from mkdocs.yml, first in a temporary folder."""

import logging
import shutil
import tempfile
from pathlib import Path

from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse


def build(out: Path) -> int:
    """Write the site to a folder, as a whole or not at all. Returns the number of its pages.

    Raises WrongUse where mkdocs is not installed, a page has an error or the folder cannot be written.
    """
    try:
        import latex2mathml  # noqa: F401
        import material  # noqa: F401
        from mkdocs.commands.build import build as mkdocs_build
        from mkdocs.config import load_config
        from mkdocs.exceptions import MkDocsException
    except ImportError:
        raise errors.missing_extra("The site needs mkdocs-material and latex2mathml", "docs") from None
    if out.exists() and not (out / "search").is_dir() and any(out.iterdir()):
        raise WrongUse(f"{out} is not empty and no site of ours. Name another folder: OUTPUT=site")
    warnings = _Warnings()
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "site"
        try:
            with warnings:
                config = load_config(str(paths.at_root("mkdocs.yml")), site_dir=str(built))
                config.plugins.on_startup(command="build", dirty=False)
                mkdocs_build(config)
                config.plugins.on_shutdown()
        except MkDocsException as error:
            raise WrongUse("\n".join(["The site cannot be built.", *warnings.texts, str(error)])) from None
        try:
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(built, out)
        except OSError as error:
            raise WrongUse(f"{out} cannot be written: {error.strerror or error}") from None
    return len({*out.rglob("*.html")} - {out / "404.html"})


class _Warnings(logging.Handler):
    """Keeps the warnings of mkdocs, which only counts them in strict mode."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []
        self.logger = logging.getLogger("mkdocs")

    def __enter__(self) -> None:
        self.logger.addHandler(self)
        self.logger.propagate = False

    def __exit__(self, *_: object) -> None:
        self.logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning."""
        self.texts.append(record.getMessage())
