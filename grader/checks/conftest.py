"""Plain pytest for the authors of checks: python -m pytest grader/checks/03_context_vectors --submission my.py"""

from grader.judge.plugin import *  # noqa: F403
