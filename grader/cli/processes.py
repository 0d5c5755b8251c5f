"""The option --jobs: the number of processes that a verb may start."""

import argparse
import os


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def number(text: str) -> int:
    """The value of --jobs. Raises ArgumentTypeError where it is not a number from 1 on."""
    if not text.isdecimal() or not text.isascii() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes")
    return int(text)
