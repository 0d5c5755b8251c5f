"""Where everything lies. The only module that builds paths."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTED_CHECKS = "test_documented.py"  # the public checks of an exercise; all others are hidden
GRADER = ROOT / "grader"
CHECKS = GRADER / "checks"
WORKER = GRADER / "worker"
EXERCISES = ROOT / "exercises"
SOLUTIONS = ROOT / "solutions"
DOCS = ROOT / "docs"
LEARNERS_README = DOCS / "learners.md"  # the README of the bundle
PROGRESS = ROOT / ".kata-progress.json"  # the learner's history, git-ignored
LAST_RESULTS = ROOT / ".kata-results"  # the last verdict on each exercise, git-ignored
SITE = ROOT / "site"  # what `make docs` builds, git-ignored
SITE_STYLE, SITE_WORKER = GRADER / "site" / "site.css", GRADER / "site" / "iframe-worker.js"
SITE_FORMULAS = GRADER / "site" / "formulas.py"
TEMPLATES = GRADER / "platforms" / "templates"  # what runs on platforms outside this package
STYLE = GRADER / "report" / "style.css"  # of every HTML page
CLASS_STYLE, CLASS_SCRIPT = GRADER / "classroom" / "page.css", GRADER / "classroom" / "page.js"


def stub(folder: str) -> Path:
    """The file that the learner edits: exercises/03_context_vectors/context_vectors.py."""
    return EXERCISES / folder / f"{slug(folder)}.py"


def solution(folder: str) -> Path:
    return SOLUTIONS / folder / f"{slug(folder)}.py"


def wrong_versions(folder: str) -> list[Path]:
    """The known mistakes of an exercise, in alphabetical order."""
    return sorted((SOLUTIONS / folder / "wrong").glob("*.py"))


def kills(folder: str) -> Path:
    """Which checks each wrong version does not pass, as JSON; `make verify WRITE=1` makes it."""
    return SOLUTIONS / folder / "wrong" / "kills.json"


def checks(folder: str) -> list[Path]:
    """The check files of an exercise: the documented ones first."""
    found = (CHECKS / folder).glob("test_*.py")
    return sorted(found, key=lambda path: (path.name != DOCUMENTED_CHECKS, path.name))


def documented_checks(folder: str) -> Path:
    """The public checks of an exercise."""
    return CHECKS / folder / DOCUMENTED_CHECKS


def exercise_toml(folder: str) -> Path:
    return CHECKS / folder / "exercise.toml"


def documented_toml(folder: str) -> Path:
    return CHECKS / folder / "documented.toml"


def pictures(folder: str) -> Path:
    """How the pictures of an exercise are taken; not every exercise has some."""
    return CHECKS / folder / "pictures.py"


def lesson(folder: str) -> Path:
    return EXERCISES / folder / "README.md"


def site_page(folder: str) -> Path:
    """The lesson as a page, once `make docs` has built it."""
    return SITE / "lessons" / folder / "index.html"


def notebook(folder: str) -> Path:
    """The notebook that `make notebook` makes: exercises/03_context_vectors/context_vectors.ipynb."""
    return EXERCISES / folder / f"{slug(folder)}.ipynb"


def hints(folder: str) -> Path:
    return EXERCISES / folder / "hints.md"


def pristine_stub(folder: str) -> Path:
    """The stub as it was, in a learner's bundle, which has no solution to make it from."""
    return CHECKS / folder / f"{slug(folder)}.stub"


def last_result(folder: str) -> Path:
    """The last verdict on the learner's own file, as JSON."""
    return LAST_RESULTS / f"{folder}.json"


def slug(folder: str) -> str:
    return folder.partition("_")[2]


def shown(path: Path) -> str:
    """A path as the user would type it: relative to where they stand, if it lies below."""
    try:
        return str(Path(path).resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
