"""The figures to play with, one an exercise: the same module on the site and in a notebook.

`exercises/NN_slug/figure.js` draws, `grader/checks/NN_slug/figure.py` gives the numbers. The modules beside this one
are shared by all figures. Neither making nor reading a figure needs a network or Node.
"""
