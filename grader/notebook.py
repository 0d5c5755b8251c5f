"""In a notebook: `from grader.notebook import check, figure, hint, plot, setup`, then `check()`."""

from grader.integrations.notebook import check, figure, hint, plot, setup

__all__ = ["check", "figure", "hint", "plot", "setup"]
