"""Makes docs/commands.md and the README's list of lessons from what is declared: python -m grader.cli.reference"""

import importlib
import re

from grader import catalog
from grader.catalog import paths, project
from grader.cli import MODULES
from grader.cli.options import DECLARED, Option, Verb

HEAD = """# All commands

`kata VERB` works in the folder that `kata init` made and below it, and in a clone once `.venv` is active
(`. .venv/bin/activate`). `make VERB` is the same; in a clone it builds `.venv` first if it has to. `make check 03` is
short for `make check EX=03`. What exit codes and the JSON mean: [for other tools](tools.md). This page is made from the
commands, by `python -m grader.cli.reference`.
"""
SECTIONS = {
    "Learn": ("check_verbs", "desk_verbs"),
    "Teach": ("grade_verb", "class_verbs", "platform_verbs"),
    "Write exercises": ("author_verbs",),
}
# In the recipe of a target: $(call option,--seed,SEED), flag or yes; without a name the value is a positional argument.
CALL = re.compile(r"\$\(call (?P<kind>option|flag|yes|each),(?:(?P<option>--[a-z-]+|),)?(?P<name>[A-Z_]+)\)")
TARGET = re.compile(r"^(?P<verb>[a-z0-9-]+):.*  ## .*\n(?P<recipe>(?:\t.*\n)*)", re.M)


MINUTES = re.compile(r"\*\*Time\*\* about (\d+)")
LESSONS = re.compile(r"(?<=<!-- lessons -->\n).*?(?=<!-- /lessons -->)", re.S)
BADGES = re.compile(r"(?<=<!-- badges -->\n).*?(?=<!-- /badges -->)", re.S)
COUNT = re.compile(r"(?<=\| )\d+ exercises in")
ADDRESS = re.compile(r"https://github\.com/[^\s/]+/attention-kata\b")


def commands() -> str:
    """docs/commands.md: one section for each kind of reader, one table for each verb."""
    makefile = paths.at_root("Makefile").read_text("utf-8")
    recipes = {target["verb"]: target["recipe"] for target in TARGET.finditer(makefile)}
    parts = [HEAD]
    for title, modules in SECTIONS.items():
        parts.append(f"\n## {title}\n")
        for module in modules:
            importlib.import_module(f"grader.cli.{module}")
            parts += [_section(name, DECLARED[name], recipes.get(name)) for name in MODULES[module]]
    return "".join(parts)


def lessons() -> str:
    """The README's list of lessons: each path with its hours and its end, and a small picture of each figure."""
    parts = []
    for path in catalog.learning_paths():
        exercises = [exercise for exercise in catalog.by_path() if exercise.path == path]
        texts = [paths.lesson(exercise.folder).read_text("utf-8") for exercise in exercises]
        minutes = sum(int(found[1]) for text in texts for found in [MINUTES.search(text)] if found)
        hours = f"{round(minutes / 30) / 2:g} hours" if minutes > 60 else f"{minutes} minutes"
        parts.append(f"**{path.name[:1].upper()}{path.name[1:]}** · {hours} · after it you can {path.after}\n\n")
        for exercise in exercises:
            folder = f"exercises/{exercise.folder}"
            name = f"{exercise.folder[:2]} {exercise.title}"
            picture = f'<img src="{folder}/{paths.still(exercise.folder).name}" height="110" alt="{name}">'
            parts.append(f"[{picture}]({folder}/README.md)\n")
        names = [f"[{one.folder[:2]} {one.title}](exercises/{one.folder}/README.md)" for one in exercises]
        parts.append(f"\n{' · '.join(names)}\n\n")
    return "".join(parts)


def badges() -> str:
    """The README's badges: Codespaces, and the first notebook in Colab; "" until pyproject.toml has the address."""
    if project.UNFILLED in project.published():
        return ""
    first = next(exercise for exercise in catalog.by_path() if not exercise.path.warm_up)
    kinds = (
        ("codespaces", "Open in GitHub Codespaces", project.codespace(project.published())),
        ("colab", "Open in Colab", project.colab(project.published(), first.folder)),
    )
    return "\n".join(f"[![{words}](docs/{name}.svg)]({address})" for name, words, address in kinds) + "\n"


def readme(text: str) -> str:
    """The README with its lessons and their number, its badges, and the address at which the project is published."""
    text = COUNT.sub(f"{len(catalog.exercises())} exercises in", text)
    text = LESSONS.sub(lambda _: lessons(), BADGES.sub(lambda _: badges(), text))
    return ADDRESS.sub(lambda _: project.published(), text)


def _section(name: str, verb: Verb, recipe: str | None) -> str:
    """A verb: its summary, and a table of its options. recipe: what make runs for it, None without such a target."""
    positional, by_option = [], {}
    for call in CALL.finditer(recipe or ""):
        if call["option"]:
            by_option[call["option"]] = f"{call['name']}=1" if call["kind"] in ("flag", "yes") else f"{call['name']}=…"
        elif f"{call['name']}=…" not in positional:
            positional.append(f"{call['name']}=…")
    lines = [f"\n### {name}\n", f"\n{verb.summary}\n"]
    if verb.options:
        lines += ["\n| make | kata | |\n", "|---|---|---|\n"]
    for option in verb.options:
        in_make = by_option.get(option.names[0], "") if _is_named(option) else next(iter(positional), "")
        if not _is_named(option) and positional:
            positional.pop(0)
        lines.append(f"| {_code(in_make)} | {_code(_spell(option))} | {_meaning(option)} |\n")
    return "".join(lines)


def _is_named(option: Option) -> bool:
    return option.names[0].startswith("-")


def _spell(option: Option) -> str:
    """How an option is typed after kata."""
    if option.settings.get("action") == "store_true":
        return option.names[0]
    value = option.settings.get("metavar") or ("N" if option.settings.get("type") is int else "…")
    return f"{option.names[0]} {value}" if _is_named(option) else str(value)


def _meaning(option: Option) -> str:
    """What an option does: its help, and the values that it may have."""
    choices = option.settings.get("choices")
    named = ", ".join(f"`{choice}`" for choice in choices) if choices and len(choices) > 1 else ""
    return "; ".join(filter(None, (option.settings.get("help", ""), named))).replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


if __name__ == "__main__":
    paths.COMMANDS.write_text(commands(), "utf-8")
    start_page = paths.at_root("README.md")
    start_page.write_text(readme(start_page.read_text("utf-8")), "utf-8")
