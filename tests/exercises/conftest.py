"""The solution of the exercise that a file of truths is about."""

import pytest
import torch
import truths

torch.set_num_threads(1)  # the tensors here are small: several threads would wait for each other


@pytest.fixture(scope="module")
def solution(request):
    """The solution, as a module: of exercise 03 in test_03_context_vectors.py."""
    return truths.load(request.path.name.removeprefix("test_")[:2])
