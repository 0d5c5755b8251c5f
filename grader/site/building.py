"""Builds the site with mkdocs-material from the pages, in a folder that is thrown away afterwards."""

import json
import logging
import shutil
import sys
import tempfile
from pathlib import Path

from grader import paths
from grader.errors import WrongUse
from grader.site import pages

EXTENSIONS = [
    "tables", "attr_list", "admonition", "sane_lists", "pymdownx.details", "pymdownx.superfences",
    {"pymdownx.highlight": {"use_pygments": True}},
    {"pymdownx.arithmatex": {"generic": True}},
    {"toc": {"permalink": True}},
]  # fmt: skip
SCHEMES = [
    {
        "media": f"(prefers-color-scheme: {name})",
        "scheme": scheme,
        "toggle": {"icon": f"material/weather-{icon}", "name": f"Switch to {other}"},
    }
    for name, scheme, icon, other in (("light", "default", "sunny", "dark"), ("dark", "slate", "night", "light"))
]


def build(out: Path) -> int:
    """Write the site to a folder, whole or not at all. Gives the number of its pages.

    Raises WrongUse where mkdocs is absent, a page is not right or the folder cannot be written.
    """
    try:
        import latex2mathml  # noqa: F401
        import material  # noqa: F401
        from mkdocs.commands.build import build as mkdocs_build
        from mkdocs.config import load_config
        from mkdocs.exceptions import MkDocsException
    except ImportError:
        raise WrongUse(
            f"mkdocs-material or latex2mathml is missing: {paths.shown(sys.executable)} -m pip install -e '.[docs]'"
        ) from None
    if out.exists() and not (out / "search").is_dir() and any(out.iterdir()):
        raise WrongUse(f"{out} is not empty and no site of ours. Name another folder: OUTPUT=site")
    site = pages.site()
    warnings = _Warnings()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, text in site.pages.items():
            _write(place / "docs" / name, text)
        for name, image in site.images.items():
            (place / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(image, place / "docs" / name)
        for name in (paths.SITE_STYLE, paths.SITE_WORKER):
            _write(place / "docs" / "assets" / name.name, name.read_text("utf-8"))
        (place / "mkdocs.yml").write_text(json.dumps(settings(site.navigation, place / "built")), "utf-8")
        try:
            with warnings:
                config = load_config(str(place / "mkdocs.yml"))
                config.plugins.on_startup(command="build", dirty=False)
                mkdocs_build(config)
                config.plugins.on_shutdown()
        except MkDocsException as error:
            raise WrongUse("\n".join(["The site cannot be built.", *warnings.texts, str(error)])) from None
        try:
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(place / "built", out)
        except OSError as error:
            raise WrongUse(f"{out} cannot be written: {error.strerror or error}") from None
    return len(site.pages)


def settings(navigation: list, out: Path) -> dict:
    """mkdocs' settings. JSON is YAML too."""
    return {
        "site_name": "Attention, by hand",
        "site_dir": str(out),
        "nav": navigation,
        "strict": True,  # a link that leads nowhere is an error
        "validation": {"nav": {"omitted_files": "ignore"}, "links": {"anchors": "warn"}},
        "theme": {
            "name": "material",
            "font": False,  # the reader's own fonts: none is fetched
            "palette": SCHEMES,
            "features": [
                "navigation.sections",
                "navigation.footer",
                "navigation.top",
                "search.highlight",
                "toc.follow",
            ],
        },
        "plugins": ["search", "offline"],  # offline: opened from a disk, it finds too
        "hooks": [str(paths.SITE_FORMULAS)],
        "markdown_extensions": EXTENSIONS,
        "extra_css": [f"assets/{paths.SITE_STYLE.name}"],
        "extra": {"generator": False, "polyfills": [f"assets/{paths.SITE_WORKER.name}"]},
    }


class _Warnings(logging.Handler):
    """Keeps what mkdocs warns of: in strict mode it only counts them."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts: list[str] = []
        self.logger = logging.getLogger("mkdocs")

    def __enter__(self) -> None:
        self.logger.addHandler(self)
        self.logger.propagate = False

    def __exit__(self, *error) -> None:
        self.logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
