"""The files of a new exercise, with TODOs that verify refuses until they are filled. Their texts are in templates/."""

from pathlib import Path

from grader.authoring import parts
from grader.catalog import paths, stubs


def files(folder: str) -> dict[Path, str]:
    """Path → content of every file of a new exercise, in the order in which an author fills them."""
    solution = _text("solution", folder)
    contents = {
        paths.solution(folder): solution,
        paths.stub(folder): stubs.make(solution),
        paths.exercise_toml(folder): _text("toml", folder),
        paths.documented_checks(folder): _text("documented", folder),
        paths.hidden_checks(folder): _text("hidden", folder),
        paths.pictures(folder): _text("pictures", folder),
        paths.notice(folder): _text("notice", folder),
        paths.mistakes(folder): _text("mistakes", folder),
    }
    styles = range(1, parts.MIN_STYLES + 1)
    contents |= {paths.styles_folder(folder) / f"style_{number}.py": _text("style", folder) for number in styles}
    return contents | {
        paths.figure_data(folder): _text("figure", folder),
        paths.figure_script(folder): _text("script", folder),
        paths.figure_cases(folder): _text("cases", folder),
        paths.experiment(folder): _text("experiment", folder),
        paths.lesson(folder): _text("lesson", folder),
        paths.hints(folder): _text("hints", folder),
        paths.review(folder): _text("review", folder),
    }


def _text(name: str, folder: str) -> str:
    """A template with the names of the exercise filled in."""
    slug = paths.slug(folder)
    template = paths.module(f"authoring/templates/{name}.txt").read_text("utf-8")
    return template.format(slug=slug, number=folder[:2], title=slug.replace("_", " ").capitalize())
