"""Makes docs/commands.md and the README's list of lessons from what is declared: python .ci/reference.py"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from grader import catalog
from grader.catalog import paths, project
from grader.cli import shown_lists
from grader.desk import ending

HEAD = """# Commands

`make VERB` in a clone or in a folder of `kata init`, or `kata VERB`: `make check EX=03 SEED=7` is
`kata check 03 --seed 7`.
What a verb takes: `make help check`, or `kata check --help`. This page is made by `python .ci/reference.py`.
"""
MINUTES = re.compile(r"^\*(\d+) minutes · ", re.M)
LESSONS = re.compile(r"(?<=<!-- lessons -->\n).*?(?=<!-- /lessons -->)", re.S)
BADGES = re.compile(r"(?<=<!-- badges -->\n).*?(?=<!-- /badges -->)", re.S)
ADDRESS = re.compile(r"https://github\.com/[^\s/]+/attention-kata\b")


def commands() -> str:
    """docs/commands.md: a table of all verbs by who types them."""
    lines = [HEAD]
    for title, verbs in shown_lists().items():
        lines += [f"\n| {title} | |\n|---|---|\n", *(f"| `{name}` | {words} |\n" for name, words in verbs.items())]
    return "".join(lines)


def lessons() -> str:
    """The README's list of lessons: each path with its hours, and below it each lesson with what one can do then."""
    parts = []
    for path in catalog.learning_paths():
        exercises = [exercise for exercise in catalog.exercises() if exercise.path == path]
        texts = [paths.lesson(exercise.folder).read_text("utf-8") for exercise in exercises]
        minutes = sum(int(found[1]) for text in texts if (found := MINUTES.search(text)))
        hours = f"{round(minutes / 30) / 2:g} hours" if minutes > 60 else f"{minutes} minutes"
        parts.append(f"- **{path.name[:1].upper()}{path.name[1:]}** · {hours}. Afterwards you can {path.after}.\n")
        for exercise in exercises:
            name = f"[{exercise.folder[:2]} {exercise.title}](exercises/{exercise.folder}/README.md)"
            parts.append(f"  - {name}: {ending.ability(exercise.folder).removeprefix(ending.CAN).removesuffix('.')}\n")
    return "".join(parts)


def badges() -> str:
    """The README's badges: Codespaces, and the first notebook in Colab; "" until pyproject.toml has the address."""
    if project.UNFILLED in project.published():
        return ""
    first = next(exercise for exercise in catalog.exercises() if not exercise.path.warm_up)
    repository = project.published().removeprefix("https://github.com/")
    notebook = f"{repository}/blob/notebooks/{first.folder}.ipynb"  # CI puts the notebooks into a branch of their own
    kinds = (
        ("codespaces", "Open in GitHub Codespaces", f"https://codespaces.new/{repository}?quickstart=1"),
        ("colab", "Open in Colab", f"https://colab.research.google.com/github/{notebook}"),
    )
    return "\n".join(f"[![{words}](docs/{name}.svg)]({address})" for name, words, address in kinds) + "\n"


def readme(text: str) -> str:
    """The README with its lessons, its badges, and the address at which the project is published."""
    text = LESSONS.sub(lambda _: lessons(), BADGES.sub(lambda _: badges(), text))
    return ADDRESS.sub(lambda _: project.published(), text)


if __name__ == "__main__":
    paths.at_root("docs/commands.md").write_text(commands(), "utf-8")
    start_page = paths.at_root("README.md")
    start_page.write_text(readme(start_page.read_text("utf-8")), "utf-8")
