"""The page on what the grader is worth is made from the record of `make verify`, and is current."""

import datetime
import json

from grader import catalog
from grader.authoring import how_we_know
from grader.catalog import mistakes, paths


def test_the_page_is_current():
    again = "python -m grader.authoring.how_we_know"
    assert paths.HOW_WE_KNOW.read_text("utf-8") == how_we_know.page(), f"Make it again: {again}"


def test_every_known_mistake_is_recorded_as_refused():
    """The figure counts what `make verify` wrote down: none may be there that fails no check."""
    for exercise in catalog.exercises():
        recorded = mistakes.failed_checks(exercise.folder)
        assert {*recorded} == {mistake.name for mistake in mistakes.mistakes(exercise.folder)}, exercise.folder
        assert all(row.failed for row in recorded.values()), exercise.folder


def test_the_lines_were_measured_for_each_kind_of_case():
    facts = json.loads(paths.BENCH_WHERE.read_text("utf-8"))
    assert {*facts["kinds"]} == {*how_we_know.KINDS} and datetime.date.fromisoformat(facts["date"])
    for kind, counted in facts["kinds"].items():
        assert counted["cases"] > facts["exercises"] / 2
        if kind != "pairs":
            shares = [counted[name] for name in how_we_know.COUNTED[kind][1:]]
            assert sum(shares) == counted["cases"]
