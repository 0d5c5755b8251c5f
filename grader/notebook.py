"""In a notebook: `from grader.notebook import check, hint, plot`, then `check("03")`."""

from grader.integrations.notebook import check, hint, plot

__all__ = ["check", "hint", "plot"]
