"""Look at this machine: sandbox, torch, device and what else a user needs, and how to mend it."""

import argparse

from grader.catalog import errors


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    del parser


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    from grader.desk import doctor

    findings = doctor.findings()
    print(doctor.text(findings))
    return errors.PASSED
