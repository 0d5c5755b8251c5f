"""In a notebook: `from grader.notebook import check, experiment, figure, hint, plot, setup`, then `check()`."""

from grader.integrations.notebook import check, experiment, figure, hint, plot, setup

__all__ = ["check", "experiment", "figure", "hint", "plot", "setup"]
