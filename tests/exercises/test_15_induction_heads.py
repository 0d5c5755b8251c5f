"""What is done to the figure of exercise 15, and what torch computes must come out."""

import torch
from figure_case import Case
from figure_truths import CAUSAL, trained_loss, words


def second_half(ids: list[int], off: tuple[tuple[int, int], ...] = ()) -> dict[str, torch.Tensor]:
    """The losses that are shown of a sequence that repeats itself: before the second half there is nothing to copy."""
    return {"loss of each token of the second half": trained_loss(ids, off)["loss"][len(ids) // 2 :]}


# The means are those of `trained_loss`: 0.0347, 3.3956, 3.6599 and 8.5420.
ALL = {"All heads": True}
CASES = [
    Case([], lambda: {"the model goes on": torch.tensor([5, 17, 3, 29, 11] * 3)}, "earlier 11: 5", 1e-4),
    Case(
        [ALL, ("type", "Tokens", words(CAUSAL))],
        lambda: second_half(CAUSAL),
        r"The loss of the second half is 0\.035\. Without the induction head it is 3\.40\.",
        1e-4,
    ),
    Case(
        [ALL, ("type", "Tokens", words(CAUSAL)), {"layer 1, head 0": False}],
        lambda: second_half(CAUSAL, ((1, 0),)),
        r"is 3\.40 with 1 head off",
        1e-4,
    ),
    Case(
        [ALL, ("type", "Tokens", "1 2 3 4 1 2 3")],
        lambda: trained_loss([1, 2, 3, 4, 1, 2, 3]),
        r"The mean loss is 8\.54\.",
        1e-4,
    ),
    Case([("type", "Tokens", "31 0 31 0 31 0")], says="tokens after the first period"),
]
