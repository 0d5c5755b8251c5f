"""Runs single lines of code as if they stood at the end of a learner's file. `make try` appends this to the source."""

import torch as _torch

_FORMS = ({"sci_mode": False, "linewidth": 76}, {"sci_mode": False, "linewidth": 100_000, "precision": 9})
_NAMES: dict = {}  # what the lines define, kept apart from the globals of the learner's functions
_RANDOM: list = []  # the state of torch's generator after the last line, since each request sets another


def run_line(code: str, is_expression: bool) -> list:
    """Run one piece of code. Returns the text of its value with four digits and with all digits; [] without a value.

    code: an expression or statements. Raises what the code raises.
    """
    for name, value in globals().items():
        _NAMES.setdefault(name, value)
    if _RANDOM:
        _torch.set_rng_state(_RANDOM.pop())
    try:
        value = eval(compile(code, "the lesson", "eval" if is_expression else "exec"), _NAMES)
    finally:
        _RANDOM.append(_torch.get_rng_state())
    texts: list = []
    for options in _FORMS if is_expression else ():
        _torch.set_printoptions(**options)
        texts.append(repr(value)[:9_000])
        _torch.set_printoptions(profile="default")
    return texts


def keep_file(name: str, content) -> None:
    """Let torch's `load(name)` return this content, since a worker has no files."""
    kept_files = _NAMES.setdefault("_kept_files", {})
    kept_files[name] = content
    _torch.load = lambda name, **options: kept_files[name]
