"""Exercise 04 against plain Python lists and torch's own lookup."""

import random

import pytest
import torch
from figure_case import TO_LESSON, Case
from torch import nn

from grader.judge.inputs import manual_seed

SIGNS = "abcXYZ09,.'-  \t\n"  # few, so that words come again


def words_by_hand(sentence: str) -> list[str]:
    """The words of a sentence, gathered letter by letter."""
    words = [""]
    for letter in sentence:
        if letter in " \t\n":
            words.append("")
        elif letter != ",":
            words[-1] += letter
    return [word for word in words if word]


@pytest.mark.parametrize("seed", range(50))
def test_an_index_is_the_number_of_smaller_words(solution, seed):
    draw = random.Random(seed)
    sentence = "".join(draw.choices(SIGNS, k=draw.randrange(1, 60)))
    words = words_by_hand(sentence)
    smaller = {word: sum(other < word for other in set(words)) for word in words}
    assert solution.build_vocabulary(sentence) == smaller
    if words:
        ids = solution.encode(sentence, smaller)
        assert ids.dtype == torch.int64 and ids.tolist() == [smaller[word] for word in words]


def embedded(ids: list[int]) -> dict[str, torch.Tensor]:
    manual_seed(123)
    return {"token ids": torch.tensor(ids), "the embedded sentence": nn.Embedding(50_000, 3)(torch.tensor(ids))}


def the_table() -> dict[str, torch.Tensor]:
    manual_seed(123)
    return {"the table": nn.Embedding(50_000, 3).weight[:6]}


CASES = [
    Case([], lambda: embedded([2, 1, 2, 1, 3]), "“eat” has the id 2, .* each of the 2 times"),
    Case([("type", "Sentence", "short, short Life")], lambda: embedded([5, 5, 0]), "each of the 2 times"),
    Case([("type", "Sentence", "Life is long")], the_table, "“long” .* no id, no row"),
    Case([TO_LESSON, ("pick", "token ids", 4, 0)], says="“dessert” has the id 1"),
]
