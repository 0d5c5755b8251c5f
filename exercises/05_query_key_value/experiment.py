"""Can three tokens look at each other in a cycle if queries and keys are the same?

    make experiment EX=05

Three tokens are to look at each other in a cycle: a at b, b at c, c at a.
The matrices are trained for it, once with one matrix for queries and keys
alike, once with two. The weights shown are those that each token gives to the
one that it should look at.
"""

import torch

CLAIM = (
    "With Q = K the score of a with b equals the score of b with a, and the cycle "
    "cannot be learned. With two matrices each token finds its next one."
)
STEPS, RATE = 200, 1.0
PAIRS = ("a to b", "b to c", "c to a")


def trained(same: bool) -> torch.Tensor:
    """The weights after training, (3, 3). same: keys are the queries."""
    torch.manual_seed(123)
    x = torch.eye(3)
    W_query = torch.rand(3, 3, requires_grad=True)
    W_key = W_query if same else torch.rand(3, 3, requires_grad=True)
    wanted = torch.tensor([1, 2, 0])  # a -> b, b -> c, c -> a
    for _ in range(STEPS):
        scores = (x @ W_query) @ (x @ W_key).T
        loss = torch.nn.functional.cross_entropy(scores, wanted)
        parameters = [W_query] if same else [W_query, W_key]
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients):
                parameter -= RATE * gradient
    return torch.softmax(scores.detach(), dim=-1)


def measure() -> list[dict[str, float | str]]:
    """One row for each way."""
    rows = []
    for name, same in (("Q = K", True), ("Q and K", False)):
        weights = trained(same)
        found = weights[[0, 1, 2], [1, 2, 0]]
        rows.append({"matrices": name} | dict(zip(PAIRS, found.tolist())))
    return rows


def claim(rows: list[dict[str, float | str]]) -> bool:
    """Each token of each row."""
    same, two = rows
    return all(same[pair] < 0.4 and two[pair] > 0.9 for pair in PAIRS)
