"""The paths of all files of the project and of the learner. No other module builds them.

In a clone they lie in one folder. Installed by pip, what is handed out lies in the package, and the learner's files in
the folder that `kata init` made: see grader/folders.py.
"""

import functools
import shlex
from collections.abc import Callable
from pathlib import Path

from grader import folders

ROOT = Path(folders.ROOT).resolve()  # where `grader` is imported from
IS_INSTALLED = folders.IS_INSTALLED  # by pip, so that there is no clone
PROJECT = Path(folders.PROJECT).resolve()  # what the project hands out: lessons, solutions, the Makefile
LEARNERS = folders.learners()  # the folder that `kata init` made; None where there is none, as in a clone
# Where the learner works, and what is kept. A notebook may ask an installed grader outside of such a folder.
DESK = Path(LEARNERS).resolve() if LEARNERS else Path.cwd() if IS_INSTALLED else ROOT
MARKER = DESK / folders.MARKER  # the version of what was handed out
DOCUMENTED_CHECKS = "test_documented.py"  # the public checks of an exercise; all others are hidden
GRADER = ROOT / "grader"
PROGRAM = GRADER / "__main__.py"  # what `kata` runs
CHECKS = GRADER / "checks"
LEARNING_PATHS = GRADER / "catalog" / "learning_paths.toml"
WORKER = GRADER / "worker"
EXERCISES = (DESK if LEARNERS else PROJECT) / "exercises"
SOLUTIONS = PROJECT / "solutions"
EXERCISE_TESTS = PROJECT / "tests" / "exercises"
DOCS = PROJECT / "docs"
PROMISES = DOCS / "promises.md"  # every lesson links to it
HOW_WE_KNOW = DOCS / "how-we-know.md"  # grader/authoring/how_we_know.py makes it
BENCH_WHERE = PROJECT / "tests" / "bench" / "bench_where.json"  # what `make bench WHAT=where` measured last
PROGRESS = DESK / ".kata-progress.json"  # the learner's history, git-ignored
PROGRESS_LOCK = PROGRESS.with_name(f"{PROGRESS.name}.lock")  # a process locks it while it writes the history
LAST_RESULTS = DESK / ".kata-results"  # the last verdict on each exercise, git-ignored
SITE = DESK / "site"  # `make docs` builds it; git-ignored

# Functions from a name to a path.
module = GRADER.joinpath  # a file or a room of the grader: "judge", "authors.py", "reports/style.css"
figure_module = module("integrations", "figures").joinpath  # that all figures share: "maths.js", "figures.css"
at_root = PROJECT.joinpath  # a file of the repository by its path from the top: "Makefile", "docs/promises.md"


def _file(root: Callable[[], Path], name: str) -> Callable[[str], Path]:
    """A function from the folder of an exercise, "03_context_vectors", to a file in it. Tests exchange the roots."""
    return lambda folder: root() / folder / name.format(slug=slug(folder))


_exercises = functools.partial(_file, lambda: EXERCISES)
# The exercises as they are handed out, with what a learner's folder does not hold: models, answers.
_handed_out = functools.partial(_file, lambda: PROJECT / "exercises" if LEARNERS else EXERCISES)
_solutions = functools.partial(_file, lambda: SOLUTIONS)
_checks = functools.partial(_file, lambda: CHECKS)

stub = _exercises("{slug}.py")  # the file that the learner edits
notebook = _exercises("{slug}.ipynb")  # `make notebook` makes it
lesson = _exercises("README.md")
hints = _exercises("hints.md")
problems = _exercises("problems.md")  # for paper, where a path ends; other exercises have none
experiment = _exercises("experiment.py")  # measures a claim of the lesson
figure_script = _exercises("figure.js")  # the ES module that draws the interactive figure
still = _exercises("figure.svg")  # the still picture of a figure, as .ci/stills.py takes it
handed_out = _handed_out("")  # the folder itself
review = _handed_out("review.md")  # the cards with their answers, of which `make review` asks some
trained = _handed_out("trained.pt")  # the trained model, a state dict. Not every exercise has one
trainer = _handed_out("train.py")  # the script that trains it
solution = _solutions("{slug}.py")
notice = _solutions("notice.md")  # the notes on the solution, which are shown after the exercise is passed
mistakes = _solutions("mistakes.md")  # the known mistakes; grader/catalog/mistakes.py reads them
failed_checks = _solutions("failed_checks.json")  # by known mistake; `make verify WRITE=1` writes it
styles_folder = _solutions("right")  # correct answers in other styles
exercise_toml = _checks("exercise.toml")  # title, points, limits, documented numbers
documented_checks = _checks(DOCUMENTED_CHECKS)
hidden_checks = _checks("test_{slug}.py")
pictures = _checks("pictures.py")  # describes the pictures. Not every exercise has one
figure_data = _checks("figure.py")  # gives the numbers of the interactive figure
pristine_stub = _checks("{slug}.stub")  # in a learner's bundle, where no solution exists from which to make it


def styles(folder: str) -> list[Path]:
    """Correct answers to an exercise in other styles, in alphabetical order; all get full points."""
    return sorted(styles_folder(folder).glob("*.py"))


def checks(folder: str) -> list[Path]:
    """The files of checks of an exercise, that of the documented checks first."""
    files = (CHECKS / folder).glob("test_*.py")
    return sorted(files, key=lambda path: (path.name != DOCUMENTED_CHECKS, path.name))


def check_files(folder: str) -> list[Path]:
    """All files by which an exercise is judged: its checks, settings, numbers and pictures."""
    return sorted(path for path in (CHECKS / folder).iterdir() if path.suffix in (".py", ".toml"))


def figure_cases(folder: str) -> Path:
    """The tests of an exercise, whose list CASES says what is done to its figure, and what must come out."""
    return EXERCISE_TESTS / f"test_{folder}.py"


def model_files(folder: str) -> list[Path]:
    """The model beside a lesson that writes, in Hugging Face's format, and the language that it has learned, if any."""
    names = ("config.json", "tokenizer.json", "model.safetensors", "stories.py")
    return [path for name in names if (path := handed_out(folder) / name).exists()]


def measuring(folder: str) -> list[Path]:
    """The scripts beside a lesson that measure what takes long: measure_NAME.py."""
    return sorted((EXERCISES / folder).glob("measure_*.py"))


def diagrams(folder: str) -> list[Path]:
    """The diagrams beside a lesson, SVG files."""
    return sorted(set((EXERCISES / folder).glob("*.svg")) - {still(folder)})


def own_page(folder: str) -> Path:
    """The lesson's page with the learner's own matrices, which `make figure` and then each check write; git-ignored."""
    return DESK / "report-lessons" / f"{folder}.html"


def at_desk(name: str) -> Path:
    """A file where the learner works, by its path from the top: ".git", "exercises/03_context_vectors/README.md"."""
    return DESK / name


def last_result(folder: str, kind: str = "py") -> Path:
    """The last verdict on the learner's own file of this kind ("py" or "notebook"), as JSON."""
    return LAST_RESULTS / (f"{folder}.json" if kind == "py" else f"{folder}.{kind}.json")


def slug(folder: str) -> str:
    """ "context_vectors" for the folder "03_context_vectors"."""
    return folder.partition("_")[2]


def shown(path: Path) -> str:
    """A path as the user would type it: relative to the working folder, if it lies below that."""
    resolved, current = Path(path).resolve(), Path.cwd()
    return str(resolved.relative_to(current) if resolved.is_relative_to(current) else path)


def typed(path: Path | str) -> str:
    """The same in a command that is printed: quoted for a shell, where it must be."""
    return shlex.quote(shown(Path(path)))
