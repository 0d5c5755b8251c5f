"""The six-word sentence of the source documents, used by many exercises' documented checks."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch  # in the functions: who needs only the tokens does not wait for it

TOKENS = ("Your", "journey", "starts", "with", "one", "step")
JOURNEY = 1  # the index of the token that the documents follow


def inputs() -> "torch.Tensor":
    """The sentence, embedded in three dimensions: (6, 3) float32."""
    import torch

    return torch.tensor(
        [
            [0.43, 0.15, 0.89],  # Your
            [0.55, 0.87, 0.66],  # journey
            [0.57, 0.85, 0.64],  # starts
            [0.22, 0.58, 0.33],  # with
            [0.77, 0.25, 0.10],  # one
            [0.05, 0.80, 0.55],  # step
        ]
    )


def batch() -> "torch.Tensor":
    """Two copies of the sentence: (2, 6, 3)."""
    import torch

    return torch.stack([inputs(), inputs()])
