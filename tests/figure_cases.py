"""What is done to each figure, and what must come out, computed by torch: three cases or more an exercise."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F

from grader import catalog
from grader.catalog import documented
from grader.judge.randomness import manual_seed
from grader.judge.trained import trained_state
from grader.sentence import JOURNEY, inputs


@dataclass(frozen=True)
class Case:
    """Steps, and what must be shown afterwards: matrices by name, a pattern that the figure's sentence has."""

    name: str
    steps: list[tuple]
    expected: Callable[[], dict[str, torch.Tensor]] = field(default=dict)
    says: str = ""
    tolerance: float = 0.0


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


def two_hands(queries_first: bool, scaled: bool, masked: bool) -> dict[str, torch.Tensor]:
    """Exercise 12's scores and weights."""
    manual_seed(1337)
    torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2))
    x = torch.randn(1, 8, 32)[0]
    keys, queries = nn.Linear(32, 16)(x), nn.Linear(32, 16)(x)
    scores = (queries @ keys.T if queries_first else keys @ queries.T) / (4 if scaled else 1)
    scores = scores.masked_fill(torch.ones(8, 8).triu(1).bool(), -torch.inf) if masked else scores
    return {"scores": scores, "weights": torch.softmax(scores, -1)}


def crossed(first: int, second: int, own: bool = False) -> dict[str, torch.Tensor]:
    """Exercise 14 with the first tokens of both sentences."""
    manual_seed(123)
    x_1 = nn.Embedding(50_000, 3)(torch.tensor([0, 4, 5, 2, 1, 3]))[:first]
    manual_seed(123)
    W_query, W_key, W_value = torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 4)
    x_2 = x_1 if own else torch.rand(8, 3)[:second]
    weights = torch.softmax(x_1 @ W_query @ (x_2 @ W_key).T / 2**0.5, -1)
    return {"weights": weights, "context vectors": weights @ x_2 @ W_value}


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


SCORES = torch.tensor([2.0, 4.0, 1.0, 8.0, 2.0]).log().tolist()
CAUSAL, REPEATED = fresh_tokens(1, 12), fresh_tokens(2, 9)

CASES = {
    "01": [
        Case(
            "a right angle",
            [("move", "a, x", 0.5), ("move", "a, y", 0), ("move", "b, x", 0), ("move", "b, y", 0.8)],
            says=arrows((0.5, 0), (0, 0.8)),
        ),
        Case(
            "the other way",
            [("move", "a, x", 0.5), ("move", "a, y", 0.5), ("move", "b, x", -0.5), ("move", "b, y", -0.25)],
            says=arrows((0.5, 0.5), (-0.5, -0.25)),
        ),
        Case(
            "a cell",
            [("pick", "scores", 4, 2)],
            lambda: {"scores": inputs() @ inputs().T},
            "“one” and “starts” is 0.7154",
        ),
        Case("its neighbour", [("pick", "scores", 4, 2), ("key", "ArrowRight")], says="“one” and “with” is 0.3474"),
    ],
    "02": [
        Case("a thousand", [("press", "Push “journey” to 1,000")], lambda: softmax_of({1: 1000.0}), "nan once"),
        Case("a temperature", [("move", "Temperature", 0.5)], lambda: softmax_of({}, 0.5), "Both give the same"),
        Case("a negative score", [("move", "step", -3.0)], lambda: softmax_of({5: -3.0}), "0.2817"),
        Case("cold", [("move", "Temperature", 0.01)], lambda: softmax_of({}, 0.01), "nan 4 times"),
    ],
    "03": [
        Case("your", [("choose", "Query", "Your")], lambda: query_on(0), "0.2098"),
        Case("one", [("choose", "Query", "one")], lambda: query_on(4), "“one”"),
        Case("step", [("choose", "Query", "step"), ("choose", "Dimensions", "1 and 2")], lambda: query_on(5), "“step”"),
    ],
    "04": [
        Case("fewer words", [("type", "Sentence", "eat dessert first")], lambda: embedded([2, 1, 3]), "id 2"),
        Case(
            "a word twice",
            [("type", "Sentence", "short, short Life")],
            lambda: embedded([5, 5, 0]),
            "each of the 2 times",
        ),
        Case("an unknown word", [("type", "Sentence", "Life is long")], lambda: embedded([0, 4]), "KeyError: “long”"),
        Case("another token", [("pick", "token ids", 0, 4)], says="“dessert” has the id 1"),
    ],
    "05": [
        Case("another token", [("choose", "Token", "one")], lambda: projected(4), "“one”"),
        Case("an entry", [("move", "Chosen entry of W_query", -1)], lambda: projected(1, -1.0), "−1.0000"),
        Case("one map for both", [("toggle", "Use W_query for the keys too")], lambda: projected(1, same=True)),
    ],
    "06": [
        Case("one", [("move", "d_k", 1)], lambda: normal_scores(1)),
        Case("many", [("move", "d_k", 512)], lambda: normal_scores(512), "d_k = 512", 1e-4),
        Case(
            "another query", [("move", "d_k", 64), ("move", "query", 5)], lambda: normal_scores(64, 5), "d_k = 64", 1e-4
        ),
    ],
    "07": [
        Case("a weight", [("pick", "weights", 1, 4)], made_of("parameter", 123), r"0\.5577 / √2.*= 0\.0906"),
        Case("a score", [("pick", "scores", 1, 1)], made_of("parameter", 123), r"0\.4306 · 0\.4433 .*= 1\.8524"),
        Case(
            "by the keyboard",
            [("pick", "queries", 0, 0), ("key", "ArrowDown"), ("key", "ArrowRight")],
            made_of("parameter", 123),
            r"^queries\[1, 1\].*= 1\.4551",
        ),
        Case("an input", [("pick", "inputs", 0, 2)], says="0.8900 is given"),
    ],
    "08": [
        Case("a weight", [("pick", "weights", 0, 0)], made_of("layer", 789), r"0\.2899 / √2.*= 0\.1921"),
        Case("a score", [("pick", "scores", 1, 0)], made_of("layer", 789), r"= 0\.4656"),
        Case("a parameter", [("pick", "W_query", 0, 1)], made_of("layer", 789), r"W_query\[0, 1\]"),
    ],
    "09": [
        Case("by a loop", [("choose", "By", "a loop"), ("move", "Token", 4)], averaged, "Average 4.*/ 5 = 0.3525"),
        Case("by a softmax", [("choose", "By", "a softmax")], averaged, "Average 2"),
        Case("another last token", [("move", "Add to the last token", 4)], lambda: averaged(4.0), "no other row"),
    ],
    "10": [
        Case("zero leaks", [("move", "Fill", 0)], lambda: filled(0.0), "leaks to later tokens"),
        Case("less leaks", [("move", "Fill", -5)], lambda: filled(-5.0), "dashed"),
        Case(
            "another last token",
            [("move", "Score of “step”", 5)],
            lambda: filled(-torch.inf, 5.0),
            "move the weights of step",
        ),
        Case(
            "and it leaks",
            [("move", "Fill", 0), ("move", "Score of “step”", 5)],
            lambda: filled(0.0, 5.0),
            "move the weights of step",
        ),
    ],
    "11": [
        Case("one draw", [("move", "p", 0.5)], lambda: dropped(0.5, 1), "After 1 draw "),
        Case("ten draws", [("move", "p", 0.5), ("move", "Draws", 10)], lambda: dropped(0.5, 10), "2.00 times"),
        Case("all draws", [("move", "p", 0.2), ("move", "Draws", 200)], lambda: dropped(0.2, 200), "After 200 draws"),
        Case("once more", [("move", "p", 0.5), ("press", "Draw once more")], lambda: dropped(0.5, 2), "After 2 draws"),
    ],
    "12": [
        Case(
            "queries as rows",
            [("choose", "Scores", "queries @ keysᵀ")],
            lambda: two_hands(True, False, True),
            "query i",
        ),
        Case("scaled", [("toggle", "Divide by √head_size")], lambda: two_hands(False, True, True)),
        Case(
            "no mask", [("toggle", "Mask"), ("toggle", "Divide by √head_size")], lambda: two_hands(False, True, False)
        ),
    ],
    "13": [
        Case("the wrong way", [("choose", "Split by", "view(H, T, h)")], lambda: split(True, 2), "of 24 cells"),
        Case("four heads", [("choose", "Heads", "4")], lambda: split(False, 4), "2 numbers of its own token"),
        Case(
            "places",
            [
                ("choose", "Cells show", "their place in memory"),
                ("choose", "Split by", "view(H, T, h)"),
                ("choose", "Heads", "4"),
            ],
            lambda: split(True, 4, True),
            "dashed",
        ),
    ],
    "14": [
        Case("fewer keys", [("move", "Tokens of x_2", 3)], lambda: crossed(6, 3), "6 × 3 weights"),
        Case("fewer queries", [("move", "Tokens of x_1", 2)], lambda: crossed(2, 8), "2 × 8 weights"),
        Case(
            "self-attention",
            [("toggle", "Take x_1 for both: self-attention")],
            lambda: crossed(6, 8, True),
            "6 × 6 weights",
        ),
        Case("a row", [("pick", "weights", 5, 0)], says="“first” looks most at token 4"),
    ],
    "15": [
        Case("stacked otherwise", [("choose", "Stacked as", "k q v")], lambda: multi_head("kqv"), "no error tells it"),
        Case(
            "and cut so", [("choose", "Stacked as", "v k q"), ("choose", "Cut as", "v k q")], multi_head, "One product"
        ),
        Case("cut otherwise", [("choose", "Cut as", "v k q")], lambda: multi_head("vkq"), "dashed"),
    ],
    "16": [
        Case(
            "both one on",
            [("press", "Both one on")],
            lambda: turned(3, 1, 100.0),
            "distance is 2, and the score 15.4399",
        ),
        Case("far", [("move", "Query at", 20), ("move", "Key at", 7)], lambda: turned(20, 7, 100.0), "distance is 13"),
        Case(
            "another base",
            [("choose", "Base", "10,000"), ("move", "Key at", 5)],
            lambda: turned(2, 5, 10_000.0),
            "distance is 3",
        ),
    ],
    "17": [
        Case("three tokens", [("move", "Tokens", 3)], lambda: cached(3), "multiply-adds"),
        Case("the first again", [("press", "Next token")], lambda: cached(1)),
        Case(
            "no cache",
            [("toggle", "Keep a cache")],
            lambda: multi_head() | {"bytes kept": torch.tensor(0)},
            "with a cache it would be 216",
        ),
    ],
    "18": [
        Case("a head each", [("choose", "Heads of keys", "8")], lambda: grouped(8), "keys of its own"),
        Case("one for all", [("choose", "Heads of keys", "1")], lambda: grouped(1), "8 heads share.*512 MiB"),
        Case(
            "a long text",
            [("choose", "Heads of keys", "4"), ("move", "Tokens", 17)],
            lambda: grouped(4),
            "131,072 tokens the cache takes 32 GiB; without sharing it takes 64 GiB",
        ),
    ],
    "19": [
        Case("longer", [("move", "Tokens", 12)], lambda: window(12, 3)),
        Case("wider", [("move", "Tokens", 9), ("move", "Window", 4)], lambda: window(9, 4), "65,536"),
        Case(
            "deeper",
            [("move", "Tokens", 16), ("move", "Window", 4), ("move", "Layers", 3)],
            lambda: window(16, 4, 3),
            "9 before it through 3 layers",
        ),
    ],
    "20": [
        Case("one at a time", [("move", "Block size", 1)], lambda: online(SCORES), "the same"),
        Case("half way", [("move", "Blocks read", 2)], lambda: online(SCORES, 4), "4 of 5 scores"),
        Case("a large score", [("move", "Score 0", 1000)], lambda: online([1000.0, *SCORES[1:]])),
        Case(
            "forgotten", [("toggle", "Forget the correction")], lambda: {"sum": torch.tensor(2.875)}, "2.8750 is wrong"
        ),
    ],
    "21": [
        Case("all keys", [("toggle", "Causal")], lambda: attended(False), "4 of 4 tiles"),
        Case("small blocks", [("move", "Block size", 2)], lambda: attended(True), "6 of 6 tiles"),
        Case("uneven blocks", [("toggle", "Causal"), ("move", "Block size", 5)], lambda: attended(False), "4 of 4"),
        Case("none yet", [("press", "Next tile")], lambda: {"output": torch.zeros(6, 3)}, "0 of 3 tiles"),
    ],
    "22": [
        Case("other tokens", [("type", "Tokens", "3 3 1 0 2")], lambda: small_model([3, 3, 1, 0, 2]), "mean loss"),
        Case(
            "a head off",
            [("toggle", "layer 0, head 1")],
            lambda: small_model([0, 4, 5, 2, 1, 3], ((0, 1),)),
            "1 head off",
        ),
        Case(
            "trained",
            [("choose", "Model", "trained on repeated sequences"), ("type", "Tokens", words(CAUSAL))],
            lambda: likeliest(CAUSAL),
            "mean loss",
            1e-4,
        ),
        Case("no token", [("type", "Tokens", "1 9")], says="“9” is no token"),
    ],
    "23": [
        Case("fresh", [("type", "Tokens", words(CAUSAL))], lambda: trained_loss(CAUSAL), "second half", 1e-4),
        Case(
            "the induction head off",
            [("type", "Tokens", words(CAUSAL)), ("toggle", "layer 1, head 0")],
            lambda: trained_loss(CAUSAL, ((1, 0),)),
            "1 head off",
            1e-4,
        ),
        Case(
            "two heads off",
            [("type", "Tokens", words(REPEATED)), ("toggle", "layer 0, head 1"), ("toggle", "layer 1, head 3")],
            lambda: trained_loss(REPEATED, ((0, 1), (1, 3))),
            "2 heads off",
            1e-4,
        ),
        Case(
            "no repetition",
            [("type", "Tokens", words(CAUSAL[:7]))],
            lambda: trained_loss(CAUSAL[:7]),
            "The mean loss",
            1e-4,
        ),
    ],
}
