"""`python -m grader`, and the command `kata`: see grader/cli/."""

import os
import sys

PROJECT_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# `python -m` looks for modules in the working folder first. There hand-ins may lie, and what is called torch.py.
if sys.path and sys.path[0] in ("", os.getcwd()) and os.path.realpath(os.getcwd()) != os.path.realpath(PROJECT_ROOT):
    del sys.path[0]
if sys.path and sys.path[0] == os.path.join(PROJECT_ROOT, "grader"):  # `python …/grader/__main__.py`, as in _restart
    sys.path[0] = PROJECT_ROOT


def run() -> None:
    """The command line, and then the end of the process: this does not return."""
    try:
        from grader.records import interrupts

        interrupts.end_at_once(sys.argv[1:2] == ["--make"])
        interrupts.let_through()  # the Makefile holds Ctrl-C back until here
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        os._exit(130)
    from grader import folders

    found = folders.around()
    is_kata = folders.IS_INSTALLED or __name__ != "__main__"  # `python -m grader` is the grader that Python finds
    if is_kata and found is not None and found[0] == folders.CLONE and not os.path.samefile(found[1], PROJECT_ROOT):
        _restart(found[1])
    if sys.flags.optimize or os.environ.get("PYTHONPATH"):
        _restart(PROJECT_ROOT)
    from grader.warm import client  # the warm process has imported what the rest of this would

    is_serving = sys.argv[1:2] == [client.SERVE]  # for the learner's folder that it was given
    desk = (folders.learners() if is_serving else folders.settle(found)) or PROJECT_ROOT
    code = client.run(sys.argv[1:], desk)
    if is_serving:
        _serve(sys.argv[2:], desk)
        code = 0
    if code is None:
        import gc

        gc.disable()  # a short life: collecting costs more than it frees
        if client.verb_of(sys.argv[1:]) not in client.VERBS:
            interrupts.raise_again()
        code = _command()
        client.start(sys.argv[1:], os.path.abspath(__file__))
    os._exit(code)  # torch takes a quarter of a second to end in good order, for nobody's use


def _command() -> int:
    """Run the command line. Returns the exit code, once all is written."""
    import contextlib

    from grader import folders

    try:
        if sys.argv[1:2] == [folders.NOTEBOOK]:
            from grader.integrations.notebook import main
        else:
            from grader.cli import main
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    try:
        code = main()
    except SystemExit as ended:  # --help
        code = ended.code if isinstance(ended.code, int) else 0
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # that it is full or closed was reported
            stream.flush()
    return code


def _serve(folders: list[str], desk: str) -> None:
    """Be the warm process. folders: of exercises that it reads first; desk: the folder in which the learner works."""
    import contextlib

    from grader.warm.message import settings

    own = settings(desk)
    os.chdir("/")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy would start threads, and a fork has none of them
    import gc

    gc.disable()
    from grader.warm import code_state

    before = code_state.state([])
    from grader.cli.learn import load
    from grader.warm import keeper

    with contextlib.suppress(OSError):  # the cold way is always there, and nobody would read why
        keeper.serve(folders, own, before, _command, load)


def _restart(root: str) -> None:
    """Run the grader of this folder, in a Python that keeps docstrings and asserts: the checks are made of both.

    It goes without PYTHONPATH, by which clusters and ROS add packages of another Python. `doctor` says so.
    """
    from grader import folders
    from grader.records import interrupts

    program = os.path.join(root, "grader", "__main__.py")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONOPTIMIZE", "PYTHONPATH")}
    environment |= {folders.IGNORED: os.environ["PYTHONPATH"]} if os.environ.get("PYTHONPATH") else {}
    with interrupts.hold_back():
        os.execve(sys.executable, [sys.executable, program, *sys.argv[1:]], environment)


if __name__ == "__main__":
    run()
