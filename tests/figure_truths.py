"""What the figures of several exercises must show, computed by torch."""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from grader import catalog
from grader.judge.inputs import manual_seed, trained_state
from grader.sentence import inputs


def linear(seed: int, *sizes: tuple[int, int]) -> list[torch.Tensor]:
    """The weights of bias-free layers, drawn one after the other right after the seed."""
    manual_seed(seed)
    return [nn.Linear(*one, bias=False).weight.detach() for one in sizes]


def projected(
    token: int, entry: float | None = None, same: bool = False, at: tuple[int, int] = (0, 0)
) -> dict[str, torch.Tensor]:
    """Exercise 05 for one token; entry: a number of W_query, by default the first."""
    manual_seed(123)
    W_query, W_key, W_value = (torch.rand(3, 2) for _ in range(3))
    if entry is not None:
        W_query[at] = entry
    x, W_key = inputs()[token], W_query if same else W_key
    scores = inputs() @ W_query @ W_key.T @ inputs().T
    return {"query": x @ W_query, "key": x @ W_key, "value": x @ W_value, "scores": scores}


def one_token(token: int) -> Callable[[], dict[str, torch.Tensor]]:
    """Exercise 07 for one token, from its query to its context vector."""

    def compute() -> dict[str, torch.Tensor]:
        manual_seed(123)
        W_query, W_key, W_value = (torch.rand(3, 2) for _ in range(3))
        query, keys, values = inputs()[token] @ W_query, inputs() @ W_key, inputs() @ W_value
        scores = keys @ query
        weights = torch.softmax(scores / 2**0.5, -1)
        rows = {"query": query, "scores": scores, "weights": weights, "context vector": weights @ values}
        return {"W_query": W_query, "keys": keys, "values": values, **rows}

    return compute


def multi_head(order: str = "qkv", tokens: int = 6) -> dict[str, torch.Tensor]:
    """The output of exercise 13, seeded with 123, with its projections taken in an order."""
    parts = dict(zip("qkv", linear(123, *[(3, 2)] * 3)))
    out = nn.Linear(2, 2)
    projected = [(inputs()[:tokens] @ parts[name].T).reshape(tokens, 2, 1).transpose(0, 1) for name in order]
    attention = F.scaled_dot_product_attention(*projected, is_causal=True)
    return {"output": out(attention.transpose(0, 1).reshape(tokens, 2))}


class Transformer(nn.Module):
    """Exercise 14's model, whose attention is torch's own. off: layer and head that give nothing."""

    def __init__(self, vocabulary: int, width: int, context: int, layers: int, heads: int) -> None:
        super().__init__()
        self.heads, self.width = heads, width
        self.token_embedding, self.position_embedding = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        names = ("W_query", "W_key", "W_value", "out_proj")
        linears = [{name: nn.Linear(width, width, bias=False) for name in names} for _ in range(layers)]
        self.layers = nn.ModuleList(nn.ModuleDict(one) for one in linears)
        self.unembedding = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids: torch.Tensor, off: tuple[tuple[int, int], ...] = ()) -> torch.Tensor:
        x = self.token_embedding(ids) + self.position_embedding.weight[: len(ids)]
        for number, layer in enumerate(self.layers):
            q, k, v = (self.split(layer[name](x)) for name in ("W_query", "W_key", "W_value"))
            heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            for one, head in off:
                if one == number:
                    heads[head] = 0
            x = x + layer["out_proj"](heads.transpose(0, 1).reshape(len(ids), self.width))
        return self.unembedding(x)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(len(x), self.heads, -1).transpose(0, 1)


def trained_model(ids: list[int], off: tuple[tuple[int, int], ...] = (), in_full: bool = False) -> torch.Tensor:
    """The logits of the trained model as the pages have it, in float16; in_full: of the learners' own."""
    model, state = Transformer(32, 64, 64, 2, 4), trained_state(catalog.find("15").folder)
    model.load_state_dict({name: value if in_full else value.half().float() for name, value in state.items()})
    return model(torch.tensor(ids), off)


def trained_loss(
    ids: list[int], off: tuple[tuple[int, int], ...] = (), in_full: bool = False
) -> dict[str, torch.Tensor]:
    """The loss of each prediction, and where the sequence repeats itself the mean of its second half."""
    loss = F.cross_entropy(trained_model(ids, off, in_full)[:-1], torch.tensor(ids[1:]), reduction="none")
    half = len(ids) // 2
    return {"loss": loss} | ({"loss of the second half": loss[half:].mean()} if ids[:half] == ids[half:] else {})


def fresh_tokens(seed: int, period: int) -> list[int]:
    """A sequence that nobody has seen, twice."""
    return torch.randint(0, 32, (period,), generator=torch.Generator().manual_seed(seed)).tolist() * 2


def words(ids: list[int]) -> str:
    return " ".join(map(str, ids))


CAUSAL, REPEATED = fresh_tokens(1, 12), fresh_tokens(2, 9)
