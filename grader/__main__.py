"""`python -m grader`: see grader/cli.py."""

import gc
import os
import sys

# `python -m` looks for modules in the working folder first. There hand-ins may lie, and what is called torch.py.
HOUSE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if sys.path and sys.path[0] in ("", os.getcwd()) and os.path.realpath(os.getcwd()) != os.path.realpath(HOUSE):
    del sys.path[0]

if __name__ == "__main__":
    from grader.cli import main

    gc.disable()  # a short life: collecting costs more than it frees
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # torch takes a quarter of a second to end in good order, for nobody's use
