"""In a notebook: `from grader.notebook import check, figure, hint, plot`, then `check("03")`."""

from grader.integrations.notebook import check, figure, hint, plot

__all__ = ["check", "figure", "hint", "plot"]
