"""The panels that every form of a picture shows, with their captions."""

import dataclasses

from grader.judge.pictures import Matrix, Picture

ROUNDING = 1e-4  # printed numbers have four digits


def panels(picture: Picture) -> list[tuple[str, Matrix]]:
    """(caption, values): yours, expected and difference; only expected where the learner's code gave nothing."""
    picture = printed_alike(picture)
    expected = ("expected", picture.expected)
    if picture.learner is None:
        return [expected]
    return [("yours", picture.learner), expected, ("difference", picture.difference)]


def printed_alike(picture: Picture) -> Picture:
    """Return the picture with the expected number wherever the learner's differs by rounding alone.

    Else one of two equal numbers could be rounded up and the other one down: .95 beside .94.
    """
    if picture.learner is None:
        return picture
    learner = tuple(
        tuple(expected if abs(got - expected) < ROUNDING else got for got, expected in zip(*rows))
        for rows in zip(picture.learner, picture.expected)
    )
    return dataclasses.replace(picture, learner=learner)


def distance(picture: Picture) -> str:
    """The distance of the learner's matrix from the expected one, in words."""
    if picture.largest_difference is None:
        return "Your code gave no such matrix."
    if picture.largest_difference != picture.largest_difference:
        return "Largest difference: not a number (nan)."
    if picture.largest_difference < ROUNDING:
        return f"Largest difference: below {ROUNDING:g}."
    return f"Largest difference: {picture.largest_difference:.2g}."
