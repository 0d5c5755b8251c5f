"""One warm process a checkout: it has imported torch, and forks a child for each check, try and plot.

`client`, and `message` which it imports, come before anything else of the grader, and import nothing that takes long.
Read them first, then `keeper` (the warm process), `ready` (what it has ready for a child) and `child`.
"""
