"""The pictures: the weights of four heads, and of the causal head.

The layers return context vectors alone. A value layer that turns the j-th token into the j-th one-hot vector, and an
output layer that changes nothing, make these the weights.
"""

import torch

from grader.authors import Drawing, expect_shape, manual_seed

NAMES = ("query", "key", "value")
HEADS, HEAD_SIZE, EMBED_DIM = 4, 8, 32
THREE = ("token 0", "token 1", "token 2")
EIGHT = tuple(f"token {number}" for number in range(8))


def three_tokens():
    """The batch of one sequence of three tokens (1, 3, 32), and the weights of each head, as seed 89 gives them."""
    x = torch.randn(1, 3, EMBED_DIM, generator=torch.Generator().manual_seed(89))
    manual_seed(89)
    heads = [{name: linear(EMBED_DIM, HEAD_SIZE).weight.detach() for name in NAMES} for _ in range(HEADS)]
    return x, heads


def linear(d_in, d_out):
    return torch.nn.Linear(d_in, d_out, bias=False)


def one_hot(x, size):
    """A matrix (size, d) that turns token j of x (T, d) into the j-th one-hot vector."""
    matrix = torch.zeros(size, x.shape[1])
    matrix[: len(x)] = torch.linalg.pinv(x.double().mT).float()
    return matrix


def expected_heads(documented):
    x, heads = three_tokens()
    scores = torch.stack([(x[0] @ head["query"].T) @ (x[0] @ head["key"].T).T for head in heads])
    return torch.softmax(scores / HEAD_SIZE**0.5, dim=-1)


def ask_heads(learner):
    x, heads = three_tokens()
    state = {"output_linear.weight": torch.eye(EMBED_DIM), "output_linear.bias": torch.zeros(EMBED_DIM)}
    for number, head in enumerate(heads):
        head["value"] = one_hot(x[0], HEAD_SIZE)
        state |= {f"heads.{number}.{name}.weight": head[name] for name in NAMES}
    output = learner.MultiHeadSelfAttention(EMBED_DIM, HEADS, state=state)(x)
    expect_shape(output, (1, len(THREE), EMBED_DIM))
    return output[0].reshape(len(THREE), HEADS, HEAD_SIZE)[..., : len(THREE)].permute(1, 0, 2)


def ask_causal(learner):
    manual_seed(1337)
    torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2))  # what the document draws first
    x = torch.randn(1, 8, 32)
    state = {}
    for name in ("key", "query"):
        layer = torch.nn.Linear(32, 16)
        state |= {f"{name}.weight": layer.weight.detach(), f"{name}.bias": layer.bias.detach()}
    state |= {"value.weight": one_hot(x[0], 16), "value.bias": torch.zeros(16)}
    state |= {"out.weight": torch.eye(32, 16), "out.bias": torch.zeros(32)}
    output = learner.CausalHead(32, 16, state=state)(x)
    expect_shape(output, (1, 8, 32))
    return output[0, :, :8]


NOTE = "Read out of your layer: its values were made one-hot, so that its output is the weights."

PICTURES = [
    Drawing("MultiHeadSelfAttention(32, 4), seed 89", expected_heads, ask_heads, THREE, THREE, NOTE),
    Drawing(
        "The triangle in CausalHead(32, 16), seed 1337",
        lambda documented: documented["causal_weights"][0],
        ask_causal,
        EIGHT,
        EIGHT,
        NOTE,
    ),
]
