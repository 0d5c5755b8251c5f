"""Would you notice a wrong backward pass by watching the loss fall?

Attention learns to fetch: queries and keys are trained until each token gets the value of one token. That is done
with the true backward pass, and with four that contain a mistake. Beside the loss is what finite differences say: the
largest error of a gradient, as a share of the largest slope.
"""

import torch

CLAIM = "The loss falls with every wrong backward pass, mostly by nine tenths; finite differences find every mistake."

TOKENS, SIZE, STEPS, RATE = 8, 6, 200, 3.0
MISTAKES = ("none", "√h forgotten", "average forgotten", "keys transposed", "queries get no gradient")


def forward(queries, keys, values):
    weights = torch.softmax(queries @ keys.T / SIZE**0.5, dim=-1)
    return weights @ values, weights


def backward(queries, keys, values, weights, grad_context, mistake: str):
    """The gradients of queries and keys, with one mistake."""
    grad_weights = grad_context @ values.T
    mean = (weights * grad_weights).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_weights - (0 if mistake == "average forgotten" else mean))
    grad_scores = grad_scores / (1 if mistake == "√h forgotten" else SIZE**0.5)
    grad_queries = grad_scores @ keys * (mistake != "queries get no gradient")
    grad_keys = (grad_scores if mistake == "keys transposed" else grad_scores.T) @ queries
    return grad_queries, grad_keys


def loss_of(inputs, target) -> float:
    return float((forward(*inputs)[0] - target).square().mean())


def gradients_of(inputs, target, mistake: str):
    context, weights = forward(*inputs)
    return backward(*inputs, weights, 2 * (context - target) / target.numel(), mistake)


def error(inputs, target, mistake: str, step: float = 1e-5) -> float:
    """The largest difference from (loss one step ahead − loss one step back) / two steps."""
    worst, largest = 0.0, 0.0
    for tensor, gradient in zip(inputs[:2], gradients_of(inputs, target, mistake), strict=True):
        numbers, mine = tensor.view(-1), gradient.reshape(-1)
        for i in range(len(numbers)):
            numbers[i] += step
            ahead = loss_of(inputs, target)
            numbers[i] -= 2 * step
            slope = (ahead - loss_of(inputs, target)) / (2 * step)
            numbers[i] += step
            worst, largest = max(worst, abs(float(mine[i]) - slope)), max(largest, abs(slope))
    return round(worst / largest, 5)


def start():
    """Queries, keys and values, and the values that the tokens are to fetch."""
    torch.manual_seed(123)
    inputs = tuple(torch.randn(TOKENS, SIZE, dtype=torch.float64) for _ in range(3))
    return inputs, inputs[2][torch.randperm(TOKENS)]


def measure() -> list[dict]:
    rows = []
    for mistake in MISTAKES:
        inputs, target = start()
        row = {"mistake": mistake, "error": error(inputs, target, mistake)}
        for _ in range(STEPS):
            grad_queries, grad_keys = gradients_of(inputs, target, mistake)
            inputs = (inputs[0] - RATE * grad_queries, inputs[1] - RATE * grad_keys, inputs[2])
        rows.append(row | {"loss after": loss_of(inputs, target)})
    return rows


def claim(rows: list[dict]) -> bool:
    found = rows[0]["error"] == 0 and all(row["error"] > 0.05 for row in rows[1:])
    before, losses = loss_of(*start()), sorted(row["loss after"] for row in rows)
    return found and losses[-1] < 0.9 * before and losses[-2] < 0.1 * before
