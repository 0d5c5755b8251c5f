"""The counts of a folder of submissions in words, for the terminal, the log and the page of the class."""

from collections.abc import Iterator, Sequence

from grader.classroom.handins import Count, NeedsPerson

TO_PLACE = "rename the file in the download, or ask the student for the .py file or the notebook, and grade again"
MOST = 50  # the entries in need of a person that the page shows, and the places of one entry


def sum_of(count: Count, graded: str = "to grade", ungraded: int = 0) -> str:
    """One sentence with the number of files by outcome. ungraded: the files to grade that could not be graded."""
    parts = [f"{count.to_grade - ungraded:,} {graded}"]
    parts += [f"{ungraded:,} could not be graded"] if ungraded else []
    parts += [f"{count.refused:,} refused"]
    parts += [f"{count.needs_person:,} {'needs' if count.needs_person == 1 else 'need'} a person"] * bool(
        count.needs_person
    )
    reasons = "; ".join(f"{files:,} {reason}" for reason, files in count.left_out.items())
    left_out = sum(count.left_out.values())
    parts += [f"{left_out:,} left out ({reasons})" if reasons else "none left out"]
    many = "" if count.complete else "at least "
    return f"{many}{counted(count.found, 'file')} found: {', '.join(parts)}."


def lines(needing: Sequence[NeedsPerson], limit: int) -> Iterator[str]:
    """The entries in need of a person, for a terminal."""
    for need in needing[:limit]:
        yield f"  needs a person: {listed(need.where, 4)}: {need.why}"
        yield f"    what to do: {need.to_do}"
    if len(needing) > limit:
        yield f"  … and {len(needing) - limit:,} more that need a person: all are in class.html and the log."


def listed(names: Sequence[str], limit: int) -> str:
    """At most `limit` names, and how many more there are."""
    return ", ".join(names[:limit]) + (f" and {len(names) - limit:,} more" if len(names) > limit else "")


def counted(count: int, noun: str) -> str:
    """A number of things in words: "1 grading", "1,200 gradings"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
