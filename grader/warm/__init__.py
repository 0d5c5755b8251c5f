"""One warm grading process a checkout: it has imported torch, and forks a child for each command.

`client`, and what it imports, comes before anything else of the grader, and imports nothing that takes long.
"""
