"""The paths of all files of the project and of the learner. No other module builds them.

In a clone they lie in one folder. Installed by pip, what is handed out lies in the package, and the learner's files in
the folder that `kata init` made: see grader/folders.py.
"""

import shlex
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
COMMANDS = DOCS / "commands.md"  # .ci/reference.py makes it
HOW_WE_KNOW = DOCS / "how-we-know.md"  # grader/authoring/how_we_know.py makes it
BENCH_WHERE = PROJECT / "tests" / "bench" / "bench_where.json"  # what `make bench WHAT=where` measured last
PROGRESS = DESK / ".kata-progress.json"  # the learner's history, git-ignored
PROGRESS_LOCK = PROGRESS.with_name(f"{PROGRESS.name}.lock")  # a process locks it while it writes the history
LAST_RESULTS = DESK / ".kata-results"  # the last verdict on each exercise, git-ignored
SITE = DESK / "site"  # `make docs` builds it; git-ignored
FIGURES = GRADER / "integrations" / "figures"  # the code that all interactive figures share


def stub(folder: str) -> Path:
    """The file that the learner edits: exercises/03_context_vectors/context_vectors.py."""
    return EXERCISES / folder / f"{slug(folder)}.py"


def solution(folder: str) -> Path:
    """The reference: solutions/03_context_vectors/context_vectors.py."""
    return SOLUTIONS / folder / f"{slug(folder)}.py"


def notice(folder: str) -> Path:
    """The notes on the reference, which are shown after the exercise is passed."""
    return SOLUTIONS / folder / "notice.md"


def mistakes(folder: str) -> Path:
    """The known mistakes, in Markdown. grader/catalog/mistakes.py reads them."""
    return SOLUTIONS / folder / "mistakes.md"


def failed_checks(folder: str) -> Path:
    """The checks that each known mistake does not pass, as JSON; `make verify WRITE=1` writes it."""
    return SOLUTIONS / folder / "failed_checks.json"


def styles(folder: str) -> list[Path]:
    """Correct answers to an exercise in other styles, in alphabetical order; all get full points."""
    return sorted(styles_folder(folder).glob("*.py"))


def styles_folder(folder: str) -> Path:
    """The folder of the correct answers in other styles."""
    return SOLUTIONS / folder / "right"


def checks_folder(folder: str) -> Path:
    """The folder of the checks of an exercise, with its settings and numbers."""
    return CHECKS / folder


def checks(folder: str) -> list[Path]:
    """The files of checks of an exercise, that of the documented checks first."""
    files = (CHECKS / folder).glob("test_*.py")
    return sorted(files, key=lambda path: (path.name != DOCUMENTED_CHECKS, path.name))


def documented_checks(folder: str) -> Path:
    """The public checks of an exercise."""
    return CHECKS / folder / DOCUMENTED_CHECKS


def hidden_checks(folder: str) -> Path:
    """The hidden checks of an exercise."""
    return CHECKS / folder / f"test_{slug(folder)}.py"


def check_files(folder: str) -> list[Path]:
    """All files by which an exercise is judged: its checks, settings, numbers and pictures."""
    return sorted(path for path in (CHECKS / folder).iterdir() if path.suffix in (".py", ".toml"))


def exercise_toml(folder: str) -> Path:
    """The description of an exercise: title, points, limits, documented numbers."""
    return CHECKS / folder / "exercise.toml"


def pictures(folder: str) -> Path:
    """The module that describes the pictures of an exercise. Not every exercise has one."""
    return CHECKS / folder / "pictures.py"


def figure_data(folder: str) -> Path:
    """The module that gives the numbers of the interactive figure of an exercise."""
    return CHECKS / folder / "figure.py"


def figure_script(folder: str) -> Path:
    """The ES module that draws the interactive figure of an exercise."""
    return EXERCISES / folder / "figure.js"


def figure_cases(folder: str) -> Path:
    """The tests of an exercise, whose list CASES says what is done to its figure, and what must come out."""
    return EXERCISE_TESTS / f"test_{folder}.py"


def figure_module(name: str) -> Path:
    """A module that the figures share: "maths.js", "figures.css"."""
    return FIGURES / name


def lesson(folder: str) -> Path:
    """The lesson of an exercise, in Markdown."""
    return EXERCISES / folder / "README.md"


def handed_out(folder: str) -> Path:
    """The folder of an exercise as it is handed out, with what a learner's folder does not hold: models, answers."""
    return (PROJECT / "exercises" if LEARNERS else EXERCISES) / folder


def trained(folder: str) -> Path:
    """The trained model beside a lesson, a state dict. Not every exercise has one."""
    return handed_out(folder) / "trained.pt"


def model_files(folder: str) -> list[Path]:
    """The model beside a lesson that writes, in Hugging Face's format, and the language that it has learned, if any."""
    names = ("config.json", "tokenizer.json", "model.safetensors", "stories.py")
    return [path for name in names if (path := handed_out(folder) / name).exists()]


def trainer(folder: str) -> Path:
    """The script that trains this model. Not every exercise has one."""
    return handed_out(folder) / "train.py"


def experiment(folder: str) -> Path:
    """The script that measures a claim of the lesson."""
    return EXERCISES / folder / "experiment.py"


def own_model(folder: str) -> Path:
    """The model that the learner trained last, a state dict; git-ignored."""
    return EXERCISES / folder / "mine.pt"


def measuring(folder: str) -> list[Path]:
    """The scripts beside a lesson that measure what takes long: measure_NAME.py."""
    return sorted((EXERCISES / folder).glob("measure_*.py"))


def diagrams(folder: str) -> list[Path]:
    """The diagrams beside a lesson, SVG files."""
    return sorted(set((EXERCISES / folder).glob("*.svg")) - {still(folder)})


def still(folder: str) -> Path:
    """The still picture of a figure, as .ci/stills.py takes it."""
    return EXERCISES / folder / "figure.svg"


def own_page(folder: str) -> Path:
    """The lesson's page with the learner's own matrices, which `make figure` and then each check write; git-ignored."""
    return DESK / "report-lessons" / f"{folder}.html"


def notebook(folder: str) -> Path:
    """The notebook that `make notebook` makes: exercises/03_context_vectors/context_vectors.ipynb."""
    return EXERCISES / folder / f"{slug(folder)}.ipynb"


def hints(folder: str) -> Path:
    """The hints of an exercise, in Markdown."""
    return EXERCISES / folder / "hints.md"


def review(folder: str) -> Path:
    """The cards of an exercise with their answers, in Markdown, of which `make review` asks some."""
    return handed_out(folder) / "review.md"


def problems(folder: str) -> Path:
    """The problems on a path, for paper, beside the lesson that ends it; other exercises have none."""
    return EXERCISES / folder / "problems.md"


def pristine_stub(folder: str) -> Path:
    """The original stub in a learner's bundle, where no solution exists from which to make it."""
    return CHECKS / folder / f"{slug(folder)}.stub"


def module(name: str) -> Path:
    """A file or a room of the grader: "judge", "authors.py", "reports/style.css"."""
    return GRADER / name


def at_root(name: str) -> Path:
    """A file of the repository by its path from the top: "Makefile", "docs/promises.md"."""
    return PROJECT / name


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
