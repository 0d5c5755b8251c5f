"""The untrusted side: what runs in the process that executes a learner's code.

It imports torch and the standard library alone, and nothing of the rest of `grader`:
a fork of it inherits no solution, no expected number and no seed.
"""
