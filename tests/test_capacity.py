"""The table of docs/classroom.md is what the model gives, and the model is what a simulated queue does."""

import capacity
import pytest

from grader.catalog import paths


def test_the_document_shows_the_models_table():
    assert capacity.table() in (paths.DOCS / "classroom.md").read_text("utf-8")


@pytest.mark.parametrize(
    "submissions, cores, hours", [(20_000, 1, 1), (50_000, 2, 1), (100_000, 4, 2), (100_000, 2, 3)]
)
def test_the_model_foresees_the_longest_wait(submissions, cores, hours):
    foreseen = capacity.wait_s(submissions, cores, hours)
    found = capacity.simulated_wait_s(submissions, cores, hours)
    assert abs(found - foreseen) < 0.1 * foreseen + 30


def test_enough_cores_are_the_fewest_that_are_enough():
    cores = capacity.cores_needed(200_000, 3, 300)
    assert capacity.simulated_wait_s(200_000, cores, 3) < 330
    assert capacity.simulated_wait_s(200_000, cores - 2, 3) > 300
