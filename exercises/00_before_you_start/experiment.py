"""What is learned when a gradient is cut?

    make experiment EX=00

A matrix and a bias are fitted to eight points, twice from the same start:
with all gradients, and with the matrix detached. The loss is the mean squared
error, and a step goes against the gradient wherever there is one.
"""

import torch

CLAIM = "With all gradients the loss falls to almost nothing. With the matrix cut off only the bias learns."
STEPS = (0, 10, 1000)
RATE = 0.1


def fitted(cut: str) -> list[float]:
    """The loss after each number of steps. cut: "nothing" or "matrix"."""
    torch.manual_seed(123)
    weight = torch.nn.Parameter(torch.rand(2, 1))
    bias = torch.nn.Parameter(torch.rand(1))
    x = torch.rand(8, 2)
    wanted = x @ torch.tensor([[2.0], [-1.0]]) + 0.5
    losses = []
    for step in range(max(STEPS) + 1):
        matrix = weight.detach() if cut == "matrix" else weight
        loss = ((x @ matrix + bias - wanted) ** 2).mean()
        if step in STEPS:
            losses.append(loss.item())
        weight.grad = bias.grad = None
        loss.backward()
        with torch.no_grad():
            for parameter in (weight, bias):
                if parameter.grad is not None:
                    parameter -= RATE * parameter.grad
    return losses


def measure() -> list[dict[str, float | str]]:
    """One row for each way to cut: the loss as the steps go by."""
    names = ("cut off", *(f"after {step} steps" for step in STEPS))
    return [dict(zip(names, (cut, *fitted(cut)))) for cut in ("nothing", "matrix")]


def claim(rows: list[dict[str, float | str]]) -> bool:
    """Compares the last losses with the first."""
    nothing, matrix = rows
    first, last = "after 0 steps", "after 1000 steps"
    learns, stops = nothing[last] < 1e-3 * nothing[first], 0.1 * matrix[first] < matrix[last] < matrix[first]
    return learns and stops
