"""Show your progress: every exercise with state, points and attempts."""

from grader.commands.list import arguments, run

__all__ = ["arguments", "run"]
