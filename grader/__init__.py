"""The judge. `grader.authors` is what the authors of checks import; see docs/authors.md."""

import os

os.environ.pop("PYTHONOPTIMIZE", None)  # the processes that this one starts keep asserts: the checks are made of them
