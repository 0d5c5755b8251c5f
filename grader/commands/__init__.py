"""The verbs of `python -m grader`: `arguments(parser)` and `run(options) -> exit code` each."""
