"""Decides which of several files of a student counts for an exercise.

These rules decide in turn: the better name (the lesson's own, then the number, then the slug with more words, then the
only file of an exercise's folder), the later upload ("-1", "(1)"), the lower depth, the later modification, the suffix
.py.
"""

from dataclasses import dataclass

from grader.classroom.handins import Origin
from grader.classroom.intake.folders import Entry

SAME_TIME_S = 2.0  # archives keep times no finer


@dataclass(slots=True)
class Offer:
    """A file of one student for one exercise. order: the criteria to compare, smaller is better."""

    node: Entry
    order: tuple[int, int, int]
    origin: Origin


def better(old: Offer, new: Offer) -> tuple[Offer, str]:
    """The better one of two files, and why it is better."""
    reasons = ("it has the better name", "it was uploaded later", "it lies less deep")
    for first, second, reason in zip(old.order, new.order, reasons):
        if first != second:
            return (old if first < second else new), reason
    difference = new.node.modified - old.node.modified
    if abs(difference) > SAME_TIME_S:
        return (new if difference > 0 else old), "it was changed last"
    notebooks = [offer.node.name.lower().endswith(".ipynb") for offer in (old, new)]
    if notebooks[0] != notebooks[1]:
        return (new if notebooks[0] else old), "of a .py and an .ipynb of the same time the .py does"
    return old, "its path comes first"
