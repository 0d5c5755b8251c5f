"""The promises of every exercise, each as one helper for the authors of checks.

`mine` is a target of the learner's, `theirs` the same of the reference; both take `args`. Each helper raises Mismatch,
whose text says what the promise was. authors.py offers them.
"""
