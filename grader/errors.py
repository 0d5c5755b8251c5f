"""The ways a command can end without a verdict, and their exit codes."""

PASSED, FAILED, WRONG_USE, NOT_DONE = 0, 1, 2, 3


class WrongUse(Exception):
    """The command was called wrongly. The text says what to type instead. Exit code 2."""
