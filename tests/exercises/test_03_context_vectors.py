"""Exercise 03 against plain loops over Python's floats."""

import pytest
import torch
from figure_case import Case
from truths import attention, drawn, tensor

from grader.sentence import inputs


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 1), (6, 3), (9, 20)])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_attention_in_pythons_numbers(solution, shape, scale):
    inputs = scale * drawn(*shape)
    weights, contexts = map(tensor, attention(*[inputs.tolist()] * 3, scale=1.0))
    torch.testing.assert_close(solution.attention_weights(inputs), weights)
    torch.testing.assert_close(solution.context_vectors(inputs), contexts)
    for index in range(shape[0]):
        torch.testing.assert_close(solution.context_vector(inputs, index), contexts[index])


def query_on(index: int, times: float = 1.0) -> dict[str, torch.Tensor]:
    weights = torch.softmax(times * inputs() @ inputs().T, -1)[index]
    return {"weights": weights, "context vector": weights @ inputs()}


CASES = [
    Case([], lambda: query_on(1), "comes from all six tokens. “journey” pulls most"),
    Case([{"Scores times": 20}], lambda: query_on(1, 20.0), "comes from journey and starts only. “journey” pulls most"),
    Case([{"Scores times": 0}], lambda: query_on(1, 0.0), "a plain mean"),
    Case([{"Query": "step", "Dimensions": "1 and 2"}], lambda: query_on(5), "row of “step”"),
]
