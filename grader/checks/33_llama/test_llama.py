"""Hidden checks: fresh inputs against plain calls of torch in float64, part by part: the first wrong one is named.

Parameters are set by name, caches that are handed over are true ones, and what generate must give is computed with the
learner's own model: a wrong part costs its own checks.
"""

import json
import math

import torch
from torch.nn import functional as F

from grader.authors import (
    LARGE_TOLERANCE,
    Mismatch,
    expect,
    expect_shape,
    has_own_memory,
    has_parameters,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    keeps_no_graph,
    manual_seed,
    multiply_adds,
    on_cpu,
    refuses,
    same,
    same_gradients,
    task,
)

NEAR = 1e-4  # as the lesson promises
# (B, T, dim, num_heads, num_kv_heads, head_dim, rope_theta). Each number is above and below the others somewhere.
ATTENTION = (
    (2, 5, 6, 4, 2, 4, 10_000.0),
    (3, 4, 10, 6, 2, 2, 100.0),
    (1, 7, 8, 3, 1, 8, 500_000.0),
    (2, 3, 4, 2, 2, 6, 50.0),
    (1, 1, 3, 1, 1, 2, 10_000.0),
)
CONFIG = {
    "vocab_size": 11,
    "hidden_size": 8,
    "intermediate_size": 5,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "rope_theta": 300.0,
    "rms_norm_eps": 1e-2,
    "tie_word_embeddings": False,
    "model_type": "llama",
}
SHALLOW = CONFIG | {"num_hidden_layers": 1}  # where the number of layers makes no difference
EPS = 1e-5
FAR = 4_090  # tokens in a cache
MARGIN = 1e-3  # by which the largest logit must lead, where the next token is judged
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj")
NORMS = ("input_layernorm", "post_attention_layernorm")
PARTS = {"RMSNorm": "fresh_norm", "FeedForward": "fresh_feed_forward", "Attention": ("fresh_attention", "chunks")}
MODULES = PARTS | {"Block": "fresh_block", "Llama": "fresh_model"}
ALL = MODULES | {"next_distribution": "fresh_distribution", "generate": "fresh_generation"}


# What is true, in float64


def true_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    x = x.double()
    return x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt() * weight.double()


def true_feed_forward(x: torch.Tensor, state) -> torch.Tensor:
    gate, up, down = (state[f"{name}_proj.weight"].double() for name in ("gate", "up", "down"))
    opened = x.double() @ gate.T
    return (opened / (1 + (-opened).exp()) * (x.double() @ up.T)) @ down.T


def rotated(x: torch.Tensor, theta: float, first: int = 0) -> torch.Tensor:
    """Queries or keys (…, T, h) turned by their positions: pair i is (i, i + h / 2), as one complex number."""
    half = x.shape[-1] // 2
    frequencies = theta ** -(torch.arange(half, dtype=torch.float64) / half)
    angles = torch.arange(first, first + x.shape[-2], dtype=torch.float64)[:, None] * frequencies
    turned = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], dim=-1)


def true_attention(x: torch.Tensor, state, heads: int, groups: int, head_dim: int, theta: float, past=None):
    """The output for the tokens, and the rotated keys and the values of all tokens, those of the past included."""
    first = 0 if past is None else past[0].shape[2]
    q, k, v = (
        (x.double() @ state[f"{name}.weight"].double().T).unflatten(-1, (-1, head_dim)).transpose(1, 2)
        for name in PROJECTIONS[:3]
    )
    q, k = rotated(q, theta, first), rotated(k, theta, first)
    if past is not None:
        k, v = torch.cat([past[0].double(), k], dim=2), torch.cat([past[1].double(), v], dim=2)
    seen = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool).tril(first)
    served = [head * groups // heads for head in range(heads)]  # the head of keys and values of each head of queries
    mixed = F.scaled_dot_product_attention(q, k[:, served], v[:, served], attn_mask=seen)
    return mixed.transpose(1, 2).flatten(-2) @ state["o_proj.weight"].double().T, (k, v)


def part_of(state, name: str) -> dict[str, torch.Tensor]:
    """The parameters of one part, by their names in it."""
    return {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}


def true_block(x: torch.Tensor, state, sizes, eps: float, past=None):
    attended, cache = true_attention(
        true_norm(x, state["input_layernorm.weight"], eps), part_of(state, "self_attn"), *sizes, past=past
    )
    x = x.double() + attended
    normed = true_norm(x, state["post_attention_layernorm.weight"], eps)
    return x + true_feed_forward(normed, part_of(state, "mlp")), cache


def sizes_of(config) -> tuple[int, int, int, float]:
    """num_heads, num_kv_heads, head_dim and rope_theta of a config, in which anything may be missing."""
    heads = config["num_attention_heads"]
    theta = config.get("rope_theta", config.get("rope_parameters", {}).get("rope_theta", 10_000.0))
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    return heads, config.get("num_key_value_heads", heads), head_dim, theta


def true_model(ids: torch.Tensor, state, config) -> tuple[torch.Tensor, list]:
    """The logits and the caches, in float64."""
    eps, x = config.get("rms_norm_eps", 1e-6), state["model.embed_tokens.weight"].double()[ids]
    caches = []
    for number in range(config["num_hidden_layers"]):
        x, cache = true_block(x, part_of(state, f"model.layers.{number}"), sizes_of(config), eps)
        caches.append(cache)
    head = "model.embed_tokens.weight" if config.get("tie_word_embeddings", False) else "lm_head.weight"
    return true_norm(x, state["model.norm.weight"], eps) @ state[head].double().T, caches


def true_distribution(logits: torch.Tensor, temperature: float, top_k, top_p: float) -> torch.Tensor:
    """Row by row, from the largest token down."""
    rows = []
    for row in logits.double().reshape(-1, logits.shape[-1]).tolist():
        order = sorted(range(len(row)), key=lambda token: (-row[token], token))
        kept = order[:1] if temperature == 0 else order[:top_k]
        powers = {token: math.exp((row[token] - row[order[0]]) / (temperature or 1.0)) for token in kept}
        total, reached, stay = math.fsum(powers.values()), 0.0, []
        for token in kept:
            if reached < top_p * total or top_p == 1:
                stay.append(token)
            reached += powers[token]
        total = math.fsum(powers[token] for token in stay)
        rows.append([powers[token] / total if token in stay else 0.0 for token in range(len(row))])
    return torch.tensor(rows, dtype=logits.dtype).reshape(logits.shape)


# What is fresh


def shapes_of_attention(dim: int, heads: int, groups: int, head_dim: int, theta: float = 0.0) -> dict:
    rows = (heads * head_dim, groups * head_dim, groups * head_dim)
    shapes = {f"{name}.weight": (count, dim) for name, count in zip(PROJECTIONS, rows)}
    return shapes | {"o_proj.weight": (dim, heads * head_dim)}


def shapes_of_feed_forward(dim: int, hidden_dim: int) -> dict:
    shapes = {f"{name}_proj.weight": (hidden_dim, dim) for name in ("gate", "up")}
    return shapes | {"down_proj.weight": (dim, hidden_dim)}


def shapes_of_block(dim: int, hidden_dim: int, *sizes) -> dict:
    shapes = {f"{name}.weight": (dim,) for name in NORMS}
    shapes |= {f"self_attn.{name}": shape for name, shape in shapes_of_attention(dim, *sizes).items()}
    return shapes | {f"mlp.{name}": shape for name, shape in shapes_of_feed_forward(dim, hidden_dim).items()}


def shapes_of_model(config) -> dict:
    dim, vocabulary = config["hidden_size"], config["vocab_size"]
    shapes = {"model.embed_tokens.weight": (vocabulary, dim), "model.norm.weight": (dim,)}
    block = shapes_of_block(dim, config["intermediate_size"], *sizes_of(config))
    for number in range(config["num_hidden_layers"]):
        shapes |= {f"model.layers.{number}.{name}": shape for name, shape in block.items()}
    return shapes | ({} if config.get("tie_word_embeddings", False) else {"lm_head.weight": (vocabulary, dim)})


def fresh(rng, shapes) -> dict[str, torch.Tensor]:
    """Random parameters whose scores differ clearly; the weights of norms are around 1, and never alike."""
    return {
        name: 0.5 + rng.rand(*shape) if len(shape) == 1 else 1.3 * rng.randn(*shape) / shape[1] ** 0.5
        for name, shape in shapes.items()
    }


def fresh_model(learner, rng, config):
    """The learner's model with fresh parameters, loaded as a checkpoint is where the head is tied, and those."""
    state = fresh(rng, shapes_of_model(config))
    if not config.get("tie_word_embeddings", False):
        return learner.Llama(config, state=state), state
    model = learner.Llama(config)
    model.load_state_dict(state)
    return model, state


def as_float(caches):
    """True caches as one hands them over."""
    if isinstance(caches, list):
        return [as_float(cache) for cache in caches]
    return tuple(part.float().contiguous() for part in caches)


def start_of(cache, tokens: int):
    """The cache of the first tokens alone, None for none."""
    return as_float(tuple(part[:, :, :tokens] for part in cache)) if tokens else None


def two_parts(answer, second: str = "the cache"):
    """The two parts of an answer. Raises Mismatch where there are not two."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise Mismatch(f"the result is not a tuple of the output and {second}")
    return answer


def output_of(answer) -> torch.Tensor:
    return two_parts(answer)[0]


def logits_of(answer) -> torch.Tensor:
    return two_parts(answer, "the caches")[0]


def look_at_parts(learner, rng) -> None:
    """Ask the parts of a model, so that a wrong part and a model that uses it wrongly answer differently."""
    block = learner.Block(8, 5, 4, 2, 6, 30.0, 0.5, seed=26)
    x, past = rng.randn(1, 3, 8), (rng.randn(1, 2, 2, 6), rng.randn(1, 2, 2, 6))
    block(x)
    block(x, past)


# Task 1


@task(1)
def test_fresh_norm(learner, rng):
    """RMSNorm divides by the root of the mean square plus eps, and multiplies by its weight."""
    has_parameters(norm := learner.RMSNorm(4), {"weight": (4,)})
    expect(norm.parameters()["weight"], torch.ones(4), "the weight of a new RMSNorm")
    for x in (3e-3 * rng.randn(3, 4), torch.zeros(2, 4), 1e4 * rng.strided(2, 3, 4)):  # eps counts, and its default
        expect(norm(x), true_norm(x, torch.ones(4), EPS).float(), tolerance=NEAR)
    for shape, eps in (((2, 3, 5), 1e-5), ((4, 7), 0.3), ((6,), 2.0), ((1, 2, 2, 3), 1e-6), ((5, 1), 0.01)):
        weight, x = rng.randn(shape[-1]), 3 * rng.randn(*shape) + 1
        norm = learner.RMSNorm(shape[-1], eps, state={"weight": weight})
        expect(norm(x), true_norm(x, weight, eps).float(), tolerance=NEAR)


@task(1, after="fresh_norm")
def test_norm_in_half_precision(learner, rng):
    """In bfloat16 RMSNorm computes in float32, and goes back before it multiplies by its weight."""
    weight, x = rng.randn(64).bfloat16(), (2 * rng.randn(40, 64)).bfloat16()
    norm = learner.RMSNorm(64, state={"weight": weight.float()}).to(dtype=torch.bfloat16)
    got = norm(x)
    expected = weight * true_norm(x, torch.ones(64), EPS).bfloat16()
    if same(got, got.to(torch.float32) if isinstance(got, torch.Tensor) else got) or got.dtype != torch.bfloat16:
        expect(got, expected)
    expect_shape(got, (40, 64))
    different = float((got != expected).double().mean())
    if different > 0.02:
        late = (weight.float() * true_norm(x, torch.ones(64), EPS).float()).bfloat16()
        is_late = float((got != late).double().mean()) < 0.02
        summary = "many numbers differ from those of the steps in the lesson's order"
        if is_late:
            summary = "the weight is multiplied before the result goes back to bfloat16"
        raise Mismatch(f"in bfloat16 {summary}", f"{different:.0%} of {got.numel()} numbers differ")


# Task 2


@task(2)
def test_fresh_feed_forward(learner, rng):
    """FeedForward is down(silu(gate(x)) · up(x)), without biases."""
    for *shape, hidden in ((2, 3, 5, 7), (4, 6, 2), (1, 1, 1, 3), (3, 8)):
        dim, x = shape[-1], 2 * rng.randn(*shape)
        state = fresh(rng, shapes_of_feed_forward(dim, hidden))
        layer = learner.FeedForward(dim, hidden, state=state)
        has_parameters(layer, shapes_of_feed_forward(dim, hidden))
        expect(layer(x), true_feed_forward(x, state).float(), tolerance=NEAR)
    x = rng.strided(2, 5, dim)
    expect(layer(x), true_feed_forward(x, state).float(), tolerance=NEAR)


# Task 3


@task(3)
def test_attention_parameters(learner):
    """Attention has four weight matrices of the lesson's names and shapes, each drawn separately, and no biases."""
    for sizes in ((6, 4, 2, 4), (8, 2, 1, 4)):
        layer = learner.Attention(*sizes)
        has_parameters(layer, shapes_of_attention(*sizes))
    values = [value.flatten()[:6] for value in layer.parameters().values()]
    if any(torch.equal(one, two) for index, one in enumerate(values) for two in values[:index]):
        raise Mismatch("two weight matrices hold the same numbers: draw each one separately, and set no seed yourself")


@task(3)
def test_fresh_attention(learner, rng):
    """Without a cache, each token attends to itself and those before it: grouped heads, rotated by position."""
    for batch, tokens, *sizes in ATTENTION:
        state, x = fresh(rng, shapes_of_attention(*sizes)), rng.randn(batch, tokens, sizes[0])
        layer = learner.Attention(*sizes, state=state)
        expect(output_of(layer(x)), true_attention(x, state, *sizes[1:])[0].float(), "the output", NEAR)
    state, x = fresh(rng, shapes_of_attention(4, 2, 1, 4)), 2 * rng.strided(2, 6, 4)
    layer = learner.Attention(4, 2, 1, 4, state=state)  # with the default of rope_theta
    expected = true_attention(x, state, 2, 1, 4, 10_000.0)[0].float()
    expect(output_of(layer(x, None)), expected, "the output with the default rope_theta", NEAR)


@task(3, after="fresh_attention")
def test_large_scores(learner, rng):
    """Scores of ±10,000 neither produce NaN nor let a token see the future."""
    state = fresh(rng, shapes_of_attention(4, 2, 2, 2, 10_000.0))
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [1.0, 0.0], [0.0, -1.0]]).repeat(1, 2)[None]
    for sign in (1, -1):  # a token's own score is the largest of its row, then the first token's is as low as it gets
        state |= {"q_proj.weight": sign * 100 * 2**0.5 * torch.eye(4), "k_proj.weight": 100 * torch.eye(4)}
        layer = learner.Attention(4, 2, 2, 2, state=state)
        expect(output_of(layer(x)), true_attention(x, state, 2, 2, 2, 10_000.0)[0].float(), "the output", NEAR)


# Task 4


@task(4, after="fresh_attention")
def test_cache_contents(learner, rng):
    """The cache is a tuple of the rotated keys and the values of all tokens, num_kv_heads of each."""
    for batch, tokens, *sizes in ATTENTION[:4]:
        state, x = fresh(rng, shapes_of_attention(*sizes)), rng.randn(batch, tokens, sizes[0])
        cache = two_parts(learner.Attention(*sizes, state=state)(x))[1]
        if not isinstance(cache, tuple) or len(cache) != 2:
            raise Mismatch("the cache is not a tuple of keys and values")
        keys, values = as_float(true_attention(x, state, *sizes[1:])[1])
        shape = (batch, sizes[2], tokens, sizes[3])
        for name, got, expected in (("keys", cache[0], keys), ("values", cache[1], values)):
            expect_shape(got, shape, f"what the cache has as {name}")
            expect(got, expected, f"what the cache has as {name}", NEAR)


@task(4, after="fresh_attention")
def test_chunks(learner, rng):
    """Fed one token at a time or in chunks, each with the cache of those before, the output is the same as at once."""
    for batch, tokens, *sizes in (ATTENTION[0], (1, 9, 10, 6, 2, 2, 30.0), ATTENTION[2]):
        state, x = fresh(rng, shapes_of_attention(*sizes)), rng.randn(batch, tokens, sizes[0])
        layer, (output, whole) = learner.Attention(*sizes, state=state), true_attention(x, state, *sizes[1:])
        for start, end in ((tokens - 1, tokens), (1, tokens), (tokens // 2, tokens - 1)):
            got, cache = two_parts(layer(x[:, start:end], start_of(whole, start)))
            expect(got, output[:, start:end].float(), f"the output after {start} tokens", NEAR)
            if not isinstance(cache, (tuple, list)):
                raise Mismatch("the cache is not a tuple of keys and values")
            expect(tuple(cache), start_of(whole, end), "the cache with the new tokens", NEAR)
    state, past = fresh(rng, shapes_of_attention(4, 2, 1, 4)), tuple(rng.randn(1, 1, FAR, 4) for _ in range(2))
    layer, x = learner.Attention(4, 2, 1, 4, state=state), rng.randn(1, 3, 4)
    expected = true_attention(x, state, 2, 1, 4, 10_000.0, past)[0].float()
    expect(output_of(layer(x, past)), expected, f"the output after {FAR:,} tokens", NEAR)


@task(4, after="chunks")
def test_cache_unchanged(learner, rng):
    """The cache you are given does not change, and can be used again after later ones were made from it."""
    sizes = (4, 2, 1, 4)
    state, x = fresh(rng, shapes_of_attention(*sizes)), rng.randn(2, 6, 4)
    layer, whole = learner.Attention(*sizes, state=state), true_attention(x, state, 2, 1, 4, 10_000.0)[1]
    past = start_of(whole, 3)
    _, ((_, after), _) = layer.with_inputs(x[:, 3:], past)
    expect(after, past, "the cache after the call")
    cache = two_parts(layer(x[:, :3]))[1]  # the layer's own, which it could write into
    before = output_of(layer(x[:, 3:], cache))
    for _ in range(2):
        layer(rng.randn(2, 3, 4), cache)
        layer(rng.randn(2, 5, 4))
    expect(output_of(layer(x[:, 3:], cache)), before, "the output for a text, now that another went on from its cache,")


# Task 5


@task(5, after="fresh_attention")
def test_fresh_block(learner, rng):
    """Block norms before attention and before the feed-forward part, and adds the output of each to x."""
    learner.Attention(4, 2, 1, 4, 30.0, seed=26)(rng.randn(1, 3, 4))  # a wrong part and a wrong block differ here
    learner.RMSNorm(4, 0.5)(rng.randn(2, 4))
    for (batch, tokens, dim, *sizes), hidden, eps in zip(ATTENTION[:3], (7, 3, 12), (1e-5, 0.5, 1e-3)):
        shapes = shapes_of_block(dim, hidden, *sizes)
        state, x = fresh(rng, shapes), rng.randn(batch, tokens, dim)
        block = learner.Block(dim, hidden, *sizes, eps, state=state)
        has_parameters(block, shapes)
        output, whole = true_block(x, state, sizes, eps)
        expect(output_of(block(x)), output.float(), "the output", NEAR)
        if tokens > 2:
            got, cache = two_parts(block(x[:, 2:], start_of(whole, 2)))
            expect(got, output[:, 2:].float(), "the output after 2 tokens", NEAR)
            expect(cache, as_float(whole), "the cache", NEAR)
    state, x = fresh(rng, shapes_of_block(4, 6, 2, 1, 4)), 2e-3 * rng.randn(2, 5, 4)
    block = learner.Block(4, 6, 2, 1, 4, state=state)  # with the defaults of rope_theta and eps
    expect(output_of(block(x)), true_block(x, state, (2, 1, 4, 10_000.0), EPS)[0].float(), "the output", NEAR)


# Task 6


def agrees_block_by_block(model, ids, state, config) -> None:
    """The model's logits are right. Raises Mismatch that names the first wrong part, which the caches show."""
    logits, caches = true_model(ids, state, config)
    answer = model(ids)
    got, given = two_parts(answer, "the caches")
    layers = config["num_hidden_layers"]
    if not isinstance(given, list) or len(given) != layers:
        raise Mismatch("the second part of the result is not a list with one cache for each layer")
    for number, (mine, theirs) in enumerate(zip(given, as_float(caches))):
        if not same(mine, theirs, NEAR):
            part = f"what block {number - 1} gives" if number else "what reaches block 0, or what it makes of it,"
            also = "" if number == 0 else f", or how block {number} reads it"
            raise Mismatch(
                f"{part} is the first thing that is wrong{also}", f"the cache of block {number} is the first wrong one"
            )
    expect_shape(got, tuple(logits.shape), "the logits")
    wrong = f"the logits (all caches are right, so look at the end of block {layers - 1}, the last norm and the head)"
    expect(got, logits.float(), wrong, NEAR)


@task(6)
def test_model_parameters(learner, rng):
    """Llama has the parameters of a checkpoint by name, and leaves the config as it is."""
    look_at_parts(learner, rng)
    configs = [CONFIG, CONFIG | {"num_hidden_layers": 1, "head_dim": None, "num_attention_heads": 2}]
    configs.append({name: value for name, value in CONFIG.items() if name != "num_key_value_heads"})
    for config in configs:
        has_parameters(learner.Llama(config), shapes_of_model(config))
    _, ((after,), _) = learner.Llama.with_inputs(config)
    expect(after, config, "the config after the call")


@task(6, after="fresh_block")
def test_fresh_model(learner, rng):
    """Llama gives the logits of the lesson's steps, block by block."""
    look_at_parts(learner, rng)
    for config, shape in ((CONFIG, (2, 6)), (SHALLOW, (3, 4))):
        model, state = fresh_model(learner, rng, config)
        agrees_block_by_block(model, rng.integers(0, config["vocab_size"], *shape), state, config)


@task(6, after="fresh_model")
def test_config_keys(learner, rng):
    """What is missing in the config has the lesson's default, and the base of the angles may be in two places."""
    look_at_parts(learner, rng)
    base = {name: SHALLOW[name] for name in list(CONFIG)[:4]} | {
        "num_attention_heads": 2
    }  # heads of more than one pair
    newer = {"rope_parameters": {"rope_theta": 20.0, "rope_type": "default"}}
    for more in (
        {"rope_theta": 10_000.0, "rms_norm_eps": 1e-5},
        newer | {"num_key_value_heads": 1},
        newer | {"rope_theta": 5.0},
        {"rope_theta": 5.0, "head_dim": None},
        {"num_key_value_heads": 2, "pad_token_id": 0, "max_position_embeddings": 4},
    ):
        config = base | more
        model, state = fresh_model(learner, rng, config)
        ids = rng.integers(0, config["vocab_size"], 2, 9)
        expect(logits_of(model(ids)), true_model(ids, state, config)[0].float(), "the logits", NEAR)
    model, state = fresh_model(learner, rng, base)
    state["model.embed_tokens.weight"] *= 1e-3  # so small that eps counts
    model.load(state)
    expect(logits_of(model(ids)), true_model(ids, state, base)[0].float(), "the logits with the default eps", NEAR)


@task(6, after="fresh_model")
def test_strict_loading(learner, rng):
    """A checkpoint loads strictly: load_state_dict finds every name that it needs, and no other."""
    model, state = learner.Llama(SHALLOW), fresh(rng, shapes_of_model(SHALLOW))
    names = model.state_dict()
    if isinstance(names, dict) and set(names) - set(state):
        summary = "the state dict has names that no checkpoint has: a buffer of your own needs persistent=False"
        raise Mismatch(summary, f"it has also: {', '.join(sorted(set(names) - set(state)))}"[:300])
    model.load_state_dict(state)
    ids = rng.integers(0, 11, 2, 5)
    expect(logits_of(model(ids)), true_model(ids, state, SHALLOW)[0].float(), "the logits of what was loaded", NEAR)


@task(6, after="fresh_model")
def test_tied_head(learner, rng):
    """Where the head is tied, a checkpoint without lm_head.weight loads strictly, and head and embedding are one."""
    config = SHALLOW | {"tie_word_embeddings": True}
    model, state = learner.Llama(config), fresh(rng, shapes_of_model(config))
    matrices = [name for name, value in model.parameters().items() if tuple(value.shape) == (11, 8)]
    if len(matrices) != 1:
        raise Mismatch("embedding and head are two parameters: after a training step they would no longer be the same")
    model.load_state_dict(state)
    ids = rng.integers(0, 11, 2, 5)
    expect(logits_of(model(ids)), true_model(ids, state, config)[0].float(), "the logits of what was loaded", NEAR)
    matrices = [name for name, value in model.parameters().items() if tuple(value.shape) == (11, 8)]
    if len(matrices) != 1:
        raise Mismatch("after loading, embedding and head are two parameters")
    other = fresh(rng, shapes_of_model(config))
    model.load_state_dict(other)
    expect(logits_of(model(ids)), true_model(ids, other, config)[0].float(), "the logits of a second checkpoint", NEAR)


@task(6, after="fresh_model")
def test_model_with_caches(learner, rng):
    """With the caches of the tokens before, new tokens get the same logits as at once; the list is not changed."""
    look_at_parts(learner, rng)
    config = CONFIG | {"num_hidden_layers": 2}
    model, state = fresh_model(learner, rng, config)
    ids = rng.integers(0, 11, 2, 7)
    logits, caches = true_model(ids, state, config)
    for start, end in ((6, 7), (2, 5), (0, 3)):
        past = [start_of(cache, start) for cache in caches] if start else None
        result, ((_, after), _) = model.with_inputs(ids[:, start:end], past)
        got, new = two_parts(result, "the caches")
        expect(got, logits[:, start:end].float(), f"the logits after {start} tokens", NEAR)
        expect(after, past, "the list of caches after the call")
        if not isinstance(new, list):
            raise Mismatch("the caches are not a list")
        expect([tuple(cache) for cache in new], [start_of(cache, end) for cache in caches], "the new caches", NEAR)
    _, own = two_parts(model(ids[:, :3]), "the caches")
    before = logits_of(model(ids[:, 3:], own))
    model(rng.integers(0, 11, 2, 2), own)
    expect(logits_of(model(ids[:, 3:], own)), before, "the logits, now that another text went on from the same caches,")


# Task 7


FLOATS = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
KINDS = FLOATS | {"I64": torch.int64, "I32": torch.int32, "U8": torch.uint8, "BOOL": torch.bool}


def file_of(header, data: bytes = b"", spaces: int = 0) -> bytes:
    """A safetensors file with this header, a dict or text."""
    text = (header if isinstance(header, str) else json.dumps(header, ensure_ascii=False)).encode() + b" " * spaces
    return len(text).to_bytes(8, "little") + text + data


def entry(kind: str, shape, begin, end) -> dict:
    return {"dtype": kind, "shape": list(shape), "data_offsets": [begin, end]}


def raw(tensor: torch.Tensor) -> bytes:
    return bytes(tensor.contiguous().flatten().view(torch.uint8).tolist()) if tensor.numel() else b""


def file_with(tensors, kinds, spaces: int = 0, **more) -> bytes:
    """A file with these tensors, in this order; the header names them in the opposite one."""
    data, entries = b"", {}
    for name, tensor in tensors.items():
        entries[name] = entry(kinds[name], tensor.shape, len(data), len(data) + len(raw(tensor)))
        data += raw(tensor)
    return file_of(more | dict(reversed(entries.items())), data, spaces)


def fresh_tensors(rng) -> tuple[dict, dict]:
    """One tensor of each dtype, of many shapes, and the dtypes by name."""
    shapes = [(2, 3), (5,), (), (3, 1, 2), (0, 4), (4, 2), (7,), (2, 2)]
    tensors, kinds = {}, {}
    for number, (kind, shape) in enumerate(zip(KINDS, shapes)):
        name = f"model.layers.{number}.{kind.lower()} ä"
        values = 100 * rng.randn(math.prod(shape)).reshape(shape)
        tensors[name] = values > 0 if kind == "BOOL" else values.abs().to(KINDS[kind])
        kinds[name] = kind
    tensors["large"] = 2**40 + rng.integers(0, 9, 3)
    return tensors, kinds | {"large": "I64"}


@task(7)
def test_fresh_file(learner, rng):
    """read_safetensors gives every tensor of a file by name, with its dtype and shape, and no metadata."""
    for kind, dtype in KINDS.items():
        one = {"a": (rng.randn(2, 3) > 0).to(dtype)}
        expect(learner.read_safetensors(file_with(one, {"a": kind})), one)
    in_order = file_of({"a": entry("U8", (2,), 0, 2), "b": entry("U8", (1,), 2, 3)}, bytes([5, 7, 9]))
    expect(learner.read_safetensors(in_order), {"a": torch.tensor([5, 7]).byte(), "b": torch.tensor([9]).byte()})
    tensors, kinds = fresh_tensors(rng)
    for spaces, more in ((0, {}), (3, {"__metadata__": {"format": "pt"}}), (rng.integer(9, 20), {})):
        got = learner.read_safetensors(file_with(tensors, kinds, spaces, **more))
        expect(got, tensors)
    expect(learner.read_safetensors(file_of({})), {}, "the result for a file without tensors")


@task(7, after="fresh_file")
def test_own_memory(learner, rng):
    """Each tensor has memory of its own: writing into one changes neither the bytes nor another tensor."""
    tensors, kinds = fresh_tensors(rng)
    expect(has_own_memory(learner.read_safetensors, file_with(tensors, kinds)), tensors)


@task(7, after="fresh_file")
def test_damaged_headers(learner):
    """A header that is no JSON object, or lacks something, raises a ValueError."""
    whole = file_of({"a": entry("F32", (2,), 0, 8)}, bytes(8))
    expect(learner.read_safetensors(whole), {"a": torch.zeros(2)}, "the result for a whole file")
    bad = []
    for missing in ("dtype", "shape", "data_offsets"):
        part = {name: value for name, value in entry("F32", (2,), 0, 8).items() if name != missing}
        bad.append(file_of({"a": part}, bytes(8)))
    bad.append(file_of({"a": {"dtype": "F32", "data_offsets": [0, 4]}}, bytes(4)))  # not a tensor without dimensions
    for places in ([0], [0, 8, 8]):
        bad.append(file_of({"a": entry("F32", (2,), 0, 8) | {"data_offsets": places}}, bytes(8)))
    bad += [file_of("[1, 2]"), file_of('"a"'), file_of("{'a': 1}"), file_of("nothing"), file_of(""), b"", whole[:5]]
    far = int.from_bytes(whole[:8], "little") + (1 << 40)  # right in its first four bytes
    bad += [far.to_bytes(8, "little") + whole[8:], whole[:30]]
    for data in bad:
        refuses(ValueError, learner.read_safetensors, data)


@task(7, after="fresh_file")
def test_damaged_entries(learner):
    """What does not fit the data raises a ValueError: a size, a place, an overlap, an unknown dtype."""
    two = {"a": entry("F32", (2,), 0, 8), "b": entry("F32", (2,), 8, 16)}
    expect(learner.read_safetensors(file_of(two, bytes(16)))["b"], torch.zeros(2), "a tensor of a whole file")
    bad = [
        file_of({"a": entry("X7", (2,), 0, 8)}, bytes(8)),
        file_of({"a": entry("F32", (3,), 0, 8)}, bytes(8)),
        file_of({"a": entry("F32", (2,), 0, 7)}, bytes(8)),
        file_of({"a": entry("F16", (2,), 0, 8)}, bytes(8)),
        file_of({"a": entry("F32", (2,), 4, 12)}, bytes(8)),
        file_of({"a": entry("F32", (2,), 0, 8)}, bytes(7)),
        file_of({"a": entry("F32", (2,), -8, 0)}, bytes(8)),
        file_of({"a": entry("F32", (2,), -12, -4)}, bytes(16)),
        file_of({"a": entry("F32", (0,), 8, 4)}, bytes(8)),
        file_of({"a": entry("F32", (2,), 0, 8), "b": entry("F32", (2,), 4, 12)}, bytes(12)),
        file_of({"b": entry("F32", (4,), 0, 16), "a": entry("F32", (1,), 4, 8)}, bytes(16)),
    ]
    for data in bad:
        refuses(ValueError, learner.read_safetensors, data)


# Task 8

# (shape, temperature, top_k, top_p)
CHOICES = (
    ((7,), 1.0, None, 1.0),
    ((3, 6), 0.6, None, 1.0),
    ((2, 3, 9), 1.7, 4, 1.0),
    ((4, 8), 1.0, None, 0.7),
    ((5, 12), 0.8, 5, 0.6),
    ((2, 5), 1.0, 9, 0.95),
    ((3, 4), 2.5, 1, 0.3),
    ((6, 30), 1.3, 12, 0.85),
)


def clear_logits(rng, shape, temperature: float, top_k, top_p: float) -> torch.Tensor:
    """Logits for which no sum is so close to top_p that rounding decides."""
    while True:
        logits = 2 * rng.randn(*shape)
        sums = true_distribution(logits, temperature, top_k, 1.0).sort(dim=-1, descending=True).values.cumsum(dim=-1)
        if top_p == 1 or bool(((sums - top_p).abs() > MARGIN).all()):
            return logits


@task(8)
def test_fresh_distribution(learner, rng):
    """next_distribution divides by the temperature, keeps the top_k largest, then as few as reach top_p."""
    for shape, *options in CHOICES:
        logits = clear_logits(rng, shape, *options)
        expect(learner.next_distribution(logits, *options), true_distribution(logits, *options), tolerance=NEAR)
    logits = rng.strided(3, 5)
    expect(learner.next_distribution(logits), torch.softmax(logits, dim=-1), tolerance=NEAR)


@task(8, after="fresh_distribution")
def test_renormalized_between(learner):
    """What top_k leaves sums to 1 again before top_p looks at it."""
    logits = torch.tensor([0.4, 0.2, 0.15, 0.15, 0.1]).log()
    expected = torch.tensor([2 / 3, 1 / 3, 0.0, 0.0, 0.0])
    expect(learner.next_distribution(logits, 1.0, 3, 0.7), expected, tolerance=NEAR)  # 4/7.5 + 2/7.5 = 0.8
    logits = torch.tensor([[0.1, 0.3, 0.6], [0.6, 0.3, 0.1]]).log()
    expected = torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    expect(learner.next_distribution(logits, 1.0, 2, 0.65), expected, tolerance=NEAR)  # 6/9 alone reaches it


@task(8, after="fresh_distribution")
def test_equal_logits(learner):
    """Of equal logits the ones with the lower ids stay, however many there are."""
    quarters = torch.tensor([0.0, -torch.inf, 0.0, 0.0, -torch.inf, 0.0])  # exactly a quarter each
    for top_p, count in ((0.25, 1), (0.5, 2), (0.625, 3), (0.75, 3), (1.0, 4)):
        expected = torch.zeros(6)
        expected[[0, 2, 3, 5][:count]] = 1 / count
        expect(learner.next_distribution(quarters, 1.0, None, top_p), expected, tolerance=NEAR)
    many = torch.zeros(60)
    many[[3, 17, 40]] = 2.0
    for top_k in (1, 3, 10):
        expect(learner.next_distribution(many, 1.0, top_k), true_distribution(many, 1.0, top_k, 1.0), tolerance=NEAR)
    rows = torch.tensor([[1.0, 4.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    for options in ((0.0, None, 1.0), (1.0, 1, 1.0), (1.0, 2, 0.5), (1.0, 4, 0.25)):
        expect(learner.next_distribution(rows, *options), true_distribution(rows, *options), tolerance=NEAR)


@task(8, after="fresh_distribution")
def test_extreme_logits(learner, rng):
    """Logits of ±10,000 or −∞ give no NaN, and a temperature of 0 gives 1 to the largest."""
    logits = torch.tensor([[1e4, -1e4, 9e3, 1e4], [-torch.inf, 2.0, -torch.inf, 1.0]])
    for options in (
        (1.0, None, 1.0),
        (1.0, 3, 1.0),
        (2.0, 3, 0.9),
        (0.0, 2, 0.5),
        (0.0, None, 1.0),
    ):
        expect(
            learner.next_distribution(logits, *options),
            true_distribution(logits, *options),
            tolerance=LARGE_TOLERANCE,
        )
    low = torch.tensor([-10002.0, -10000.0, -10001.0, -10003.0])  # below what −20 or −10,000 would hide
    for options in ((1.0, 2, 1.0), (1.0, None, 0.7)):
        expect(learner.next_distribution(low, *options), true_distribution(low, *options), tolerance=LARGE_TOLERANCE)
    cold, options = logits / 100, (0.01, None, 0.9)
    expect(learner.next_distribution(cold, *options), true_distribution(cold, *options), tolerance=LARGE_TOLERANCE)
    logits = rng.randn(2, 3, 7)
    expected = F.one_hot(logits.argmax(dim=-1), 7).float()
    expect(learner.next_distribution(logits, 0.0), expected, "the result at temperature 0")


@task(8, after="fresh_distribution")
def test_refusals(learner):
    """Raises ValueError for a temperature below 0, a top_k below 1 and a top_p not in (0, 1], also at temperature 0."""
    logits = torch.tensor([1.0, 2.0, 3.0])
    expect(learner.next_distribution(logits, 1.0, 1, 1.0), torch.tensor([0.0, 0.0, 1.0]), tolerance=NEAR)
    for options in ((-0.5,), (1.0, 0), (1.0, -1), (1.0, 2, 1.5), (1.0, None, -0.1), (1.0, None, 0.0)):
        refuses(ValueError, learner.next_distribution, logits, *options)
        if options[0] >= 0:
            refuses(ValueError, learner.next_distribution, logits, 0.0, *options[1:])


# Task 9


def continued(model, ids: torch.Tensor, count: int, *options, generator=None) -> tuple[torch.Tensor, float]:
    """What generate must give with the learner's own model, and the smallest lead of a largest logit on the way.

    generator: from which tokens are drawn; None: the largest is taken.
    """
    new, caches, lead = ids, None, math.inf
    for _ in range(count):
        logits, caches = two_parts(model(new, caches), "the caches")
        expect_shape(logits, (*new.shape, CONFIG["vocab_size"]), "the logits")
        if generator is None:
            best = logits[:, -1].topk(2).values
            lead, new = min(lead, float((best[:, 0] - best[:, 1]).min())), logits[:, -1:].argmax(dim=-1)
        else:
            new = torch.multinomial(true_distribution(logits[:, -1], *options), 1, generator=generator)
        ids = torch.cat([ids, new], dim=1)
    return ids, lead


@task(9, after="model_parameters")
def test_fresh_generation(learner, rng):
    """At temperature 0, generate appends the token with the largest logit, again and again."""
    for batch, tokens, count in ((3, 4, 4), (2, 1, 3)):
        lead = 0.0
        while lead < MARGIN:
            model, _ = fresh_model(learner, rng, SHALLOW)
            ids = rng.integers(0, 11, tokens, batch).T
            expected, lead = continued(model, ids, count)
            lead = MARGIN if math.isnan(lead) else lead
        expect(learner.generate(model, ids, count), expected)
    expect(learner.generate(model, ids, 0), ids, "the result for 0 new tokens")


@task(9, after="fresh_generation")
def test_drawn_tokens(learner, rng):
    """Above temperature 0, each step is one torch.multinomial for the whole batch, with the generator it is given."""
    with on_cpu(learner):
        learner.next_distribution(rng.randn(2, 9), 1.0, 3)  # so that a cut that is wrong and one that is not asked for
        learner.next_distribution(rng.randn(2, 9), 1.0, None, 0.5)  # answer differently
        model, _ = fresh_model(learner, rng, SHALLOW)
        for options in ((1.0, None, 1.0), (1.5, 5, 0.8)):
            ids, seed = rng.integers(0, 11, 7, 3), rng.integer(0, 1 << 30)
            generator, own = (torch.Generator().manual_seed(seed) for _ in range(2))
            expected, _ = continued(model, ids, 3, *options, generator=own)
            got, ((*_, state), _) = learner.generate.with_inputs(model, ids, 3, *options, generator)
            expect(got, expected)
            if not same(state, own.get_state()):
                raise Mismatch("more is drawn from the generator than one torch.multinomial a step")
        caches, new, seed = None, ids, rng.integer(0, 1 << 30)
        manual_seed(seed)
        text = ids
        for _ in range(2):
            logits, caches = two_parts(model(new, caches), "the caches")
            new = torch.multinomial(true_distribution(logits[:, -1], 1.0, None, 1.0), 1)
            text = torch.cat([text, new], dim=1)
        expect(learner.generate(model, ids, 2, 1.0, seed=seed), text, "what torch's own generator draws")


def tokens_fed(operations) -> list[int]:
    """How many tokens each call looked up in the embedding; none where it was in no way that is known."""
    return [
        math.prod(operation.output_shapes[0]) // CONFIG["hidden_size"]
        for operation in operations
        if operation.name in ("embedding", "index", "index_select") and (11, 8) in operation.input_shapes
    ]


@task(9, after="fresh_generation")
def test_fed_once(learner, rng):
    """generate feeds the prompt once, then one token a step: with caches, no token is computed twice."""
    model, _ = fresh_model(learner, rng, SHALLOW)
    learner.generate(model, rng.integers(0, 11, 3, 4), 4)
    prompt, count = rng.integers(0, 11, 1, 12), 4
    long = learner.generate.operations(model, prompt, count)
    fed = tokens_fed(long)
    if sum(fed) > 12 + count:
        raise Mismatch(
            "tokens are fed more than once: feed the prompt, and then only the newest token, with the caches",
            f"{sum(fed)} tokens were fed; the prompt has 12, and {count} were appended",
        )
    if fed and max(fed) < 12:
        raise Mismatch("the prompt is fed in pieces: feed all of it in the first call")
    if not fed:  # an embedding in a style of its own: by the work
        once = multiply_adds(model.operations(prompt))
        if multiply_adds(long) > 4 * once:
            raise Mismatch("tokens are fed more than once: feed the prompt, and then only the newest token")
    if any(operation.name in ("multinomial", "exponential_", "uniform_") for operation in long):
        raise Mismatch("at temperature 0 something is drawn: whoever draws afterwards gets other numbers")


@task(9, after="fresh_generation")
def test_leaves_the_model(learner, rng):
    """generate builds no graph, leaves the model in its mode, and the model can be trained afterwards."""
    model, state = fresh_model(learner, rng, SHALLOW)
    ids = rng.integers(0, 11, 2, 3)
    before = model.gradients(ids)
    for training in (True, False):
        model.train(training)
        keeps_no_graph(learner.generate, model, ids, 2)
        facts = model.describe()
        expect(facts["training"], training, "whether the model is in training mode afterwards")
        expect(facts["frozen"], [], "the list of parameters that are not trainable afterwards")
        expect(facts["parameters"], state, "the parameters afterwards")
    expect(set(model.gradients(ids)), set(before), "the names of what has a gradient afterwards")


# All tasks


@task(9, each=MODULES | {"next_distribution": "fresh_distribution"})
def test_gradients(learner, reference, rng):
    """Gradients flow back to the inputs, the caches and every parameter, and they are correct."""

    def twins(name, shapes, *sizes):
        state = fresh(rng, shapes)
        return tuple(getattr(one, name)(*sizes, state=state) for one in (learner, reference))

    x = rng.randn(2, 3, 4)
    same_gradients(*twins("RMSNorm", {"weight": (4,)}, 4), x, tolerance=NEAR)
    same_gradients(*twins("FeedForward", shapes_of_feed_forward(4, 5), 4, 5), x, tolerance=NEAR)
    past = (rng.randn(2, 1, 2, 4), rng.randn(2, 1, 2, 4))
    same_gradients(*twins("Attention", shapes_of_attention(4, 2, 1, 4), 4, 2, 1, 4), x, past, tolerance=NEAR)
    same_gradients(*twins("Block", shapes_of_block(4, 5, 2, 1, 4), 4, 5, 2, 1, 4), x, past, tolerance=NEAR)
    ids = rng.permutation(11)[None]  # each token's vector has a gradient
    models = twins("Llama", shapes_of_model(SHALLOW), SHALLOW)
    same_gradients(*models, ids, tolerance=5 * NEAR)
    past = (rng.randn(1, 2, 3, 6), rng.randn(1, 2, 3, 6))
    same_gradients(*models, ids[:, :4], [past], tolerance=5 * NEAR)
    for top_p in (1.0, 0.7):
        logits = clear_logits(rng, (2, 6), 0.7, 4, top_p)
        same_gradients(learner.next_distribution, reference.next_distribution, logits, 0.7, 4, top_p, tolerance=NEAR)


@task(9, each=MODULES | {"next_distribution": "fresh_distribution"})
def test_dtype_and_device(learner, reference, rng):
    """Works in float64 and on other devices: the output keeps the dtype and device of the model and its input."""
    x, wide = rng.randn(2, 3, 4), torch.float64
    made = (
        ("RMSNorm", {"weight": (4,)}, (4,)),
        ("FeedForward", shapes_of_feed_forward(4, 5), (4, 5)),
        ("Attention", shapes_of_attention(4, 2, 1, 4), (4, 2, 1, 4)),
        ("Block", shapes_of_block(4, 5, 2, 1, 4), (4, 5, 2, 1, 4)),
    )
    for name, shapes, sizes in made:
        state = fresh(rng, shapes)
        layer, true_layer = (getattr(one, name)(*sizes, state=state).to(dtype=wide) for one in (learner, reference))
        expect(layer(x.double()), true_layer(x.double()), tolerance=NEAR)
        keeps_device(layer, x.double())
    ids = rng.integers(0, 11, 2, 4)
    model, state = fresh_model(learner, rng, SHALLOW)
    model.to(dtype=wide)
    expect(logits_of(model(ids)), true_model(ids, state, SHALLOW)[0], "the logits of a float64 model", NEAR)
    keeps_device(model, ids)
    for options in ((0.7, 4, 0.9), (0.0,)):
        keeps_dtype(learner.next_distribution, reference.next_distribution, rng.randn(2, 6), *options, dtypes=(wide,))


@task(9, each=ALL)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    x, ids = rng.randn(2, 3, 4), rng.integers(0, 11, 2, 4)
    past = (rng.randn(2, 1, 2, 4), rng.randn(2, 1, 2, 4))
    keeps_inputs(learner.RMSNorm(4), x)
    keeps_inputs(learner.FeedForward(4, 5), x)
    keeps_inputs(learner.Attention(4, 2, 1, 4), x, past)
    keeps_inputs(learner.Block(4, 5, 2, 1, 4), x, past)
    model, state = fresh_model(learner, rng, SHALLOW)
    keeps_inputs(model, ids)
    keeps_inputs(learner.generate, model, ids, 2)
    expect(model.parameters(), state, "the model's parameters after the calls")
    for options in ((0.5, 2, 0.7), (0.0, None, 1.0)):
        keeps_inputs(learner.next_distribution, rng.randn(2, 6), *options)


@task(9, each=ALL | {"read_safetensors": "fresh_file"})
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson."""
    x, ids = rng.randn(2, 3, 4), rng.integers(0, 11, 2, 4)
    learner.RMSNorm(dim=4, eps=1e-5)(x=x)
    learner.FeedForward(dim=4, hidden_dim=5)(x=x)
    sizes = {"num_heads": 2, "num_kv_heads": 1, "head_dim": 4, "rope_theta": 100.0}
    learner.Attention(dim=4, **sizes)(x=x, cache=None)
    learner.Block(dim=4, hidden_dim=5, **sizes, eps=1e-5)(x=x, cache=None)
    model = learner.Llama(config=SHALLOW)
    model(token_ids=ids, caches=None)
    learner.read_safetensors(data=file_of({}))
    options = {"temperature": 0.0, "top_k": 3, "top_p": 0.9}
    learner.next_distribution(logits=rng.randn(2, 6), **options)
    generator = torch.Generator().manual_seed(1)
    with on_cpu(learner):
        model = learner.Llama(config=SHALLOW)
        learner.generate(model=model, token_ids=ids, max_new_tokens=1, **options, generator=generator)
