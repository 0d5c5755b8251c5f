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
PROGRESS = ROOT / ".kata-progress.json"  # the learner's history, git-ignored


def stub(folder: str) -> Path:
    """The file that the learner edits: exercises/03_context_vectors/context_vectors.py."""
    return EXERCISES / folder / f"{slug(folder)}.py"


def solution(folder: str) -> Path:
    return SOLUTIONS / folder / f"{slug(folder)}.py"


def wrong_versions(folder: str) -> list[Path]:
    """The known mistakes of an exercise, in alphabetical order."""
    return sorted((SOLUTIONS / folder / "wrong").glob("*.py"))


def checks(folder: str) -> list[Path]:
    """The check files of an exercise: the documented ones first."""
    found = (CHECKS / folder).glob("test_*.py")
    return sorted(found, key=lambda path: (path.name != DOCUMENTED_CHECKS, path.name))


def exercise_toml(folder: str) -> Path:
    return CHECKS / folder / "exercise.toml"


def documented_toml(folder: str) -> Path:
    return CHECKS / folder / "documented.toml"


def slug(folder: str) -> str:
    return folder.partition("_")[2]


def shown(path: Path) -> str:
    """A path as the user would type it: relative to where they stand, if it lies below."""
    try:
        return str(Path(path).resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
