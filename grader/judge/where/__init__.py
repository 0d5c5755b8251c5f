"""Finds the line of a mistake in a learner's code: small changes are tried until one makes more checks pass.

`edits` makes the changes, `trial` runs them in a sandboxed worker, `search` decides which line is reported.
"""
