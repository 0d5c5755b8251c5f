"""An exercise's figure as a widget for JupyterLab, VS Code and Colab."""

from collections.abc import Callable

from grader.catalog import Exercise, extras, paths
from grader.catalog.errors import WrongUse
from grader.integrations.figures import joining
from grader.judge import figure


def make(exercise: Exercise, ask: Callable[[], dict]) -> object:
    """The widget. ask: gives the learner's own matrices, when the reader asks for them.

    Raises WrongUse where anywidget is not installed or the exercise has no figure.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise extras.missing("Figures in notebooks need anywidget", "notebook") from None
    if not figure.has_figure(exercise.folder):
        raise WrongUse(f"{exercise.folder} has no figure.")
    traits = {
        "_esm": joining.widget(exercise.folder),
        "_css": paths.figure_module("figures.css").read_text("utf-8"),
        "data": traitlets.Dict().tag(sync=True),
        "mine": traitlets.Dict().tag(sync=True),  # the answer of `ask`
        "asked": traitlets.Int(0).tag(sync=True),  # how many times the button was pressed
        "can_ask": traitlets.Bool().tag(sync=True),
    }
    kind = type("Figure", (anywidget.AnyWidget,), traits)
    widget = kind(data=figure.data(exercise.folder), can_ask=paths.pictures(exercise.folder).exists())
    widget.observe(lambda change: setattr(widget, "mine", ask()), "asked")
    return widget
