"""What the figures of the later exercises must show, computed by torch."""

import torch
from torch import nn
from torch.nn import functional as F
from truths_core import linear

from grader import catalog
from grader.judge.randomness import manual_seed
from grader.judge.trained import trained_state
from grader.sentence import inputs


def online(scores: list[float], read: int | None = None) -> dict[str, torch.Tensor]:
    """Exercise 20's maximum and sum of the first scores."""
    part = torch.tensor(scores, dtype=torch.float64)[:read]
    return {"maximum": part.max(), "sum": (part - part.max()).exp().sum()}


def attended(causal: bool) -> dict[str, torch.Tensor]:
    """Exercise 21's output, from torch's own attention."""
    x = inputs()[None]
    return {"output": F.scaled_dot_product_attention(x, x, x, is_causal=causal)[0]}


def turned(query: int, key: int, base: float) -> dict[str, torch.Tensor]:
    """Exercise 16's vectors by complex numbers, and their score."""
    pairs = torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))

    def at(position: int) -> torch.Tensor:
        one = pairs * torch.exp(1j * position * base ** (-torch.arange(2) / 2))
        return torch.cat([one.real, one.imag])

    return {"query, turned": at(query), "key, turned": at(key), "score": at(query) @ at(key)}


def multi_head(order: str = "qkv", tokens: int = 6) -> dict[str, torch.Tensor]:
    """The output of exercise 13, seeded with 123, with its projections taken in an order."""
    parts = dict(zip("qkv", linear(123, *[(3, 2)] * 3)))
    out = nn.Linear(2, 2)
    projected = [(inputs()[:tokens] @ parts[name].T).reshape(tokens, 2, 1).transpose(0, 1) for name in order]
    attention = F.scaled_dot_product_attention(*projected, is_causal=True)
    return {"output": out(attention.transpose(0, 1).reshape(tokens, 2))}


def cached(tokens: int) -> dict[str, torch.Tensor]:
    """Exercise 17 after some tokens: the output and what the cache holds."""
    _, W_key, W_value = linear(123, *[(3, 2)] * 3)
    kept = {"keys in the cache": W_key @ inputs()[:tokens].T, "values in the cache": W_value @ inputs()[:tokens].T}
    return multi_head(tokens=tokens) | kept


def grouped(groups: int) -> dict[str, torch.Tensor]:
    """Exercise 18: the parameters that torch counts in such layers."""
    layers = [nn.Linear(512, size, bias=False) for size in (512, 64 * groups, 64 * groups)] + [nn.Linear(512, 512)]
    count = sum(p.numel() for layer in layers for p in layer.parameters())
    used = torch.arange(groups).repeat_interleave(8 // groups)
    return {"parameters of one layer": torch.tensor(count), "head of keys that each head of queries uses": used}


def window(tokens: int, width: int, layers: int = 1) -> dict[str, torch.Tensor]:
    """Exercise 19's mask, and what is seen through some layers: the mask's powers."""
    mask = torch.ones(tokens, tokens).tril() - torch.ones(tokens, tokens).tril(-width)
    seen = torch.linalg.matrix_power(mask, layers) > 0
    many = {f"seen through {layers} layers": seen.float()} if layers > 1 else {}
    scores = torch.tensor([mask.sum(), tokens * width, tokens * tokens])
    return {"mask": mask, "scores": scores, "tokens that the last one sees": seen[-1].sum(), **many}


def crossed(first: int, second: int, own: bool = False) -> dict[str, torch.Tensor]:
    """Exercise 14 with the first tokens of both sentences."""
    manual_seed(123)
    x_1 = nn.Embedding(50_000, 3)(torch.tensor([0, 4, 5, 2, 1, 3]))[:first]
    manual_seed(123)
    W_query, W_key, W_value = torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 4)
    x_2 = x_1 if own else torch.rand(8, 3)[:second]
    weights = torch.softmax(x_1 @ W_query @ (x_2 @ W_key).T / 2**0.5, -1)
    return {"weights": weights, "context vectors": weights @ x_2 @ W_value}


class Transformer(nn.Module):
    """Exercise 22's model, whose attention is torch's own. off: layer and head that give nothing."""

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


def small_model(ids: list[int], off: tuple[tuple[int, int], ...] = ()) -> dict[str, torch.Tensor]:
    """Exercise 22's model of seed 123."""
    manual_seed(123)
    logits = Transformer(6, 8, 6, 2, 2)(torch.tensor(ids), off)
    return {"logits": logits, "loss": F.cross_entropy(logits[:-1], torch.tensor(ids[1:]), reduction="none")}


def trained_model(ids: list[int], off: tuple[tuple[int, int], ...] = ()) -> torch.Tensor:
    """The logits of the trained model."""
    model = Transformer(32, 64, 64, 2, 4)
    model.load_state_dict(trained_state(catalog.find("23").folder))
    return model(torch.tensor(ids), off)


def trained_loss(ids: list[int], off: tuple[tuple[int, int], ...] = ()) -> dict[str, torch.Tensor]:
    """The loss of each prediction, and where the sequence repeats itself the mean of its second half."""
    loss = F.cross_entropy(trained_model(ids, off)[:-1], torch.tensor(ids[1:]), reduction="none")
    half = len(ids) // 2
    return {"loss": loss} | ({"loss of the second half": loss[half:].mean()} if ids[:half] == ids[half:] else {})


def likeliest(ids: list[int]) -> dict[str, torch.Tensor]:
    """The five largest probabilities of what comes next, and the losses."""
    return {
        "what comes next: the five likeliest": trained_model(ids)[-1].softmax(-1).topk(5).values,
        "loss": trained_loss(ids)["loss"],
    }


def fresh_tokens(seed: int, period: int) -> list[int]:
    """A sequence that nobody has seen, twice."""
    return torch.randint(0, 32, (period,), generator=torch.Generator().manual_seed(seed)).tolist() * 2


def words(ids: list[int]) -> str:
    """Token ids as they are typed."""
    return " ".join(map(str, ids))
