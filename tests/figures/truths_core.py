"""What the figures of the core track must show, computed by torch."""

import re
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from grader import catalog
from grader.catalog import documented
from grader.judge.randomness import manual_seed
from grader.sentence import JOURNEY, inputs


def less_mean(dim: int | None, square: bool = False) -> dict[str, torch.Tensor]:
    """The rows of exercise 00 less a mean as broadcasting lays it over them."""
    x = torch.tensor([[1.0, 2.0, 6.0], [0.0, 4.0, 8.0], [3.0, 3.0, 0.0]])[: 3 if square else 2]
    return {"result": x - (x.mean() if dim is None else x.mean(dim=dim))}


def softmax_of(change: dict[int, float], temperature: float = 1.0) -> dict[str, torch.Tensor]:
    """What both kinds of softmax give for the scores of "journey" with some changed."""
    scores = inputs() @ inputs()[JOURNEY]
    for index, value in change.items():
        scores[index] = value
    scores = scores / temperature
    return {"softmax_naive": scores.exp() / scores.exp().sum(), "softmax_stable": torch.softmax(scores, 0)}


def normal_scores(d_k: int, query: int = 0) -> dict[str, torch.Tensor]:
    """Exercise 06's queries and keys cut to d_k: spreads, weights and gradients, raw and scaled."""
    manual_seed(1337)
    torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2)), torch.randn(1, 8, 32)
    for _ in range(3):
        nn.Linear(32, 16)
    nn.Linear(16, 32)
    keys, queries = torch.randn(1, 8, 16)[0], torch.randn(1, 8, 16)[0]
    keys, queries = (torch.cat([one, torch.randn(8, 496)], 1)[:, :d_k] for one in (keys, queries))
    raw = queries @ keys.T
    both = (raw, raw / d_k**0.5)

    def gradient(scores):
        with torch.enable_grad():
            one = [torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), row).norm() for row in scores]
        return torch.stack(one).mean()

    return {
        "variance of the scores": torch.stack([one.var() for one in both]),
        "largest weight, mean": torch.stack([one.softmax(-1).amax(-1).mean() for one in both]),
        "size of the gradient, mean": torch.stack([gradient(one) for one in both]),
        "weights, raw scores": both[0].softmax(-1)[query],
        "weights, scores / √d_k": both[1].softmax(-1)[query],
    }


def linear(seed: int, *sizes: tuple[int, int]) -> list[torch.Tensor]:
    """The weights of bias-free layers, drawn one after the other right after the seed."""
    manual_seed(seed)
    return [nn.Linear(*one, bias=False).weight.detach() for one in sizes]


def query_on(index: int) -> dict[str, torch.Tensor]:
    """Exercise 03 for one query."""
    weights = torch.softmax(inputs() @ inputs().T, -1)[index]
    return {"weights": weights, "context vector": weights @ inputs()}


def filled(fill: float, last: float = 0.0) -> dict[str, torch.Tensor]:
    """Exercise 10 with a fill value, and something added to the scores of the last token."""
    W_query, W_key, _ = linear(789, *[(3, 2)] * 3)
    scores = inputs() @ W_query.T @ W_key @ inputs().T
    scores[:, -1] += last
    masked = scores.masked_fill(torch.ones(6, 6).triu(1).bool(), fill)
    weights = torch.softmax(masked / 2**0.5, -1)
    return {"masked scores": masked, "weights": weights, "weight on the future": weights.triu(1).sum(-1)}


def dropped(p: float, draws: int) -> dict[str, torch.Tensor]:
    """Exercise 11's last draw, and the mean of all up to it."""
    W_query, W_key, W_value = linear(123, *[(3, 2)] * 3)
    numbers = torch.rand(200, 6, 6)[:draws]
    scores = inputs() @ W_query.T @ W_key @ inputs().T / 2**0.5
    weights = torch.softmax(scores.masked_fill(torch.ones(6, 6).triu(1).bool(), -torch.inf), -1)
    each = torch.where(numbers >= p, weights / (1 - p), 0.0)
    values = inputs() @ W_value.T
    return {
        "weights of this draw": each[-1],
        "mean of the draws": each.mean(0),
        "context vectors of this draw": each[-1] @ values,
        "of the mean": each.mean(0) @ values,
    }


def example_heads() -> torch.Tensor:
    """Exercise 13's x (3, 8), from the printed heads."""
    known = {number.id: number.data.value for number in documented.numbers(catalog.find("13").folder)}
    return torch.cat([known["example_head_1"], known["example_head_2"]], 1)


def split(wrong: bool, heads: int, numbered: bool = False) -> dict[str, torch.Tensor]:
    """Exercise 13's heads, split in the right way or the wrong one."""
    x = torch.arange(24.0).reshape(3, 8) if numbered else example_heads()
    cut = (lambda one: one.reshape(heads, 3, -1)) if wrong else (lambda one: one.reshape(3, heads, -1).transpose(0, 1))
    scores = cut(example_heads()) @ cut(example_heads()).mT
    return {f"head {n}": one for n, one in enumerate(cut(x))} | {
        f"scores of head {n}": one for n, one in enumerate(scores)
    }


def two_hands(queries_first: bool, scaled: bool, masked: bool) -> dict[str, torch.Tensor]:
    """Exercise 12's scores and weights."""
    manual_seed(1337)
    torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2))
    x = torch.randn(1, 8, 32)[0]
    keys, queries = nn.Linear(32, 16)(x), nn.Linear(32, 16)(x)
    scores = (queries @ keys.T if queries_first else keys @ queries.T) / (4 if scaled else 1)
    scores = scores.masked_fill(torch.ones(8, 8).triu(1).bool(), -torch.inf) if masked else scores
    return {"scores": scores, "weights": torch.softmax(scores, -1)}


def projected(token: int, entry: float | None = None, same: bool = False) -> dict[str, torch.Tensor]:
    """Exercise 05 for one token; entry: the first number of W_query."""
    manual_seed(123)
    W_query, W_key, W_value = (torch.rand(3, 2) for _ in range(3))
    if entry is not None:
        W_query[0, 0] = entry
    x = inputs()[token]
    return {"query": x @ W_query, "key": x @ (W_query if same else W_key), "value": x @ W_value}


def embedded(ids: list[int]) -> dict[str, torch.Tensor]:
    """Exercise 04's rows."""
    manual_seed(123)
    return {"token ids": torch.tensor(ids), "the embedded sentence": nn.Embedding(50_000, 3)(torch.tensor(ids))}


def averaged(added: float = 0.0) -> dict[str, torch.Tensor]:
    """Exercise 09's running means."""
    manual_seed(1337)
    x = torch.randn(4, 8, 2)[0]
    x[-1] += added
    return {"x": x, "averages": x.cumsum(0) / torch.arange(1, 9)[:, None]}


def arrows(a: tuple[float, float], b: tuple[float, float]) -> str:
    """What exercise 01 says of two arrows."""
    a, b = torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
    product = float(a @ b)
    angle = float(torch.acos(F.cosine_similarity(a, b, 0)).rad2deg())
    return re.escape(f"{product:.4f}".replace("-", "−")) + f".*{angle:.0f}°"


def made_of(layer: str, seed: int) -> Callable[[], dict[str, torch.Tensor]]:
    """Exercises 07 and 08: queries, scores and weights, none of which the documents print whole."""

    def compute() -> dict[str, torch.Tensor]:
        if layer == "parameter":
            manual_seed(seed)
            W_query, W_key, W_value = (torch.rand(3, 2) for _ in range(3))
        else:
            W_query, W_key, W_value = (weight.T for weight in linear(seed, *[(3, 2)] * 3))
        queries, keys = inputs() @ W_query, inputs() @ W_key
        scores = queries @ keys.T
        weights = torch.softmax(scores / 2**0.5, -1)
        return {"queries": queries, "keys": keys, "scores": scores, "weights": weights, "values": inputs() @ W_value}

    return compute
