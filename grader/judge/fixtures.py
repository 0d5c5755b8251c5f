"""The fixtures of the checks, in one table: for the examiner and for plain pytest (plugin.py).

Each entry is made from the session and the check's id; CONTRIBUTING.md tells authors what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grader.catalog import documented
from grader.judge import measuring
from grader.judge.mismatch import Mismatch
from grader.judge.promises.own_computation import computes_itself, computes_without_ready_made
from grader.judge.proxy import Learner
from grader.judge.randomness import Random
from grader.records.forbidden import forbidden_uses
from grader.records.places import place

if TYPE_CHECKING:
    from grader.judge.session import Session


def learner(session: Session, check: str) -> Learner:
    """The proxy of the submission's module."""
    assert session.subject is not None, "a check runs on a subject"
    return session.subject


def reference(session: Session, check: str) -> Learner:
    """The same proxy before the solution: the truth on fresh inputs."""
    return session.reference(check)


def rng(session: Session, check: str) -> Random:
    """Random inputs: other ones in each run, the same ones for the same SEED."""
    return Random(session.seed, check)


def documented_numbers(session: Session, check: str) -> documented.Numbers:
    """The printed numbers that this check grades, by id, as `expect` takes them."""
    return documented.of_check(session.exercise.folder, check, session.numbers_read)


def no_ready_made(session: Session, check: str) -> Callable[..., None]:
    """`no_ready_made(learner.f, *args)`: f keeps the exercise's [[forbidden]] rules."""

    def demand(target: Any, *args: Any, **kwargs: Any) -> None:
        for rule in session.exercise.forbidden:
            if target.name in rule.functions and target._learner is session.subject:  # not one that stands in
                source = learner(session, check).source
                for use in forbidden_uses(source, replace(rule, functions=(target.name,))):
                    raise Mismatch(f"{place(source, use.line)} uses {use.name}: {rule.reason}")
                computes_itself(target, rule, *args, **kwargs)
                computes_without_ready_made(target, reference(session, check), rule, *args, **kwargs)

    return demand


def within_memory(session: Session, check: str) -> Callable[..., Any]:
    """`within_memory(learner.f, *args, mebibytes=512)`: the result of a call that takes less memory than that."""
    return measuring.within_memory


FIXTURES: dict[str, Callable[[Session, str], object]] = {
    "learner": learner,
    "reference": reference,
    "rng": rng,
    "documented": documented_numbers,
    "no_ready_made": no_ready_made,
    "within_memory": within_memory,
}
