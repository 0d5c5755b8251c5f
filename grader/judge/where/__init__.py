"""Where in the learner's code is the mistake? Small changes are tried until one makes more checks pass.

`edits` makes the changes, `trial` runs them in a sandboxed worker, `search` decides which line is told.
"""
