"""The numbers that the lesson prints, and the numbers that a seed gives to the parameters."""

import json

import torch

from grader.authors import expect, expect_drawn, expect_shape, has_parameters, manual_seed, on_cpu, task
from grader.sentence import batch, inputs

CONFIG = {
    "vocab_size": 6,
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
TOKEN_IDS = [[0, 4, 5, 2, 1, 3]]
NEAR = 1e-4


def drawn(names_and_sizes) -> dict[str, torch.Tensor]:
    """Matrices by name, drawn as nn.Linear draws them, from the state of torch's generator."""
    return {
        f"{name}.weight": torch.nn.Linear(size_in, size_out, bias=False).weight.detach()
        for name, size_in, size_out in names_and_sizes
    }


def attention_drawn(dim: int, heads: int, groups: int, head_dim: int) -> dict[str, torch.Tensor]:
    rows = {"q_proj": heads * head_dim, "k_proj": groups * head_dim, "v_proj": groups * head_dim}
    return drawn([*((name, dim, count) for name, count in rows.items()), ("o_proj", heads * head_dim, dim)])


def feed_forward_drawn(dim: int, hidden_dim: int) -> dict[str, torch.Tensor]:
    return drawn((("gate_proj", dim, hidden_dim), ("up_proj", dim, hidden_dim), ("down_proj", hidden_dim, dim)))


def block_drawn(dim: int, hidden_dim: int, *sizes: int) -> dict[str, torch.Tensor]:
    norms = {f"{name}.weight": torch.ones(dim) for name in ("input_layernorm", "post_attention_layernorm")}
    attention = {f"self_attn.{name}": value for name, value in attention_drawn(dim, *sizes).items()}
    return norms | attention | {f"mlp.{name}": value for name, value in feed_forward_drawn(dim, hidden_dim).items()}


def has_drawn(layer, expected) -> None:
    """The layer has these parameters, with these numbers."""
    has_parameters(layer, {name: tuple(value.shape) for name, value in expected.items()})
    expect_drawn(layer, {name: value for name, value in expected.items() if value.ndim == 2})


@task(1)
def test_documented_norm(learner, documented):
    """The lesson's vector (1, 7) becomes (0.2, 1.4)."""
    expect(learner.RMSNorm(2)(torch.tensor([1.0, 7.0])), documented["norm"])


@task(2)
def test_documented_feed_forward(learner, documented):
    """Seeded with 123, FeedForward gives the lesson's numbers, and draws gate, up and down in this order."""
    layer = learner.FeedForward(3, 4, seed=123)
    expect(layer(10 * inputs()), documented["feed_forward"])
    manual_seed(123)
    has_drawn(layer, feed_forward_drawn(3, 4))


@task(3)
def test_documented_attention(learner, documented):
    """Seeded with 123, Attention gives the lesson's output for the sentence, and draws q, k, v and o in this order."""
    layer = learner.Attention(3, 4, 2, 2, seed=123)
    answer = layer(batch())
    manual_seed(123)
    has_drawn(layer, attention_drawn(3, 4, 2, 2))
    output = answer[0] if isinstance(answer, tuple) else answer
    expect_shape(output, (2, 6, 3), "the output")
    for number, name in enumerate(("first", "second")):
        expect(output[number], documented["attention"], f"the output for the {name} sequence")


@task(4)
def test_documented_cache(learner, documented):
    """The sentence's cache has the lesson's rotated keys, and its last two words can be fed after the other four."""
    layer = learner.Attention(3, 4, 2, 2, seed=123)
    _, (keys, _) = layer(batch())
    expect_shape(keys, (2, 2, 6, 2), "what the cache has as keys")
    expect(keys[0, 1], documented["keys"], "the keys of the second head")
    _, cache = layer(batch()[:, :4])
    output, _ = layer(batch()[:, 4:], cache)
    expect(output[0], documented["rest"], "the output for the last two words")


@task(5)
def test_documented_block(learner, documented):
    """Seeded with 123, Block gives the lesson's numbers for the sentence, and draws its parts in order."""
    layer = learner.Block(3, 4, 4, 2, 2, seed=123)
    output, _ = layer(batch())
    manual_seed(123)
    has_drawn(layer, block_drawn(3, 4, 4, 2, 2))
    expect_shape(output, (2, 6, 3), "the output")
    expect(output[0], documented["block"], "the output")


@task(6)
def test_documented_model(learner, documented):
    """Seeded with 123, the lesson's small model gives its logits, and draws its parts in order."""
    learner.Block(8, 12, 4, 2, 2, 30.0, 0.5, seed=1)(torch.ones(1, 2, 8))  # a wrong part and a wrong model differ here
    model = learner.Llama(CONFIG, seed=123)
    logits, _ = model(torch.tensor(TOKEN_IDS))
    manual_seed(123)
    expected = {"model.embed_tokens.weight": torch.nn.Embedding(6, 8).weight.detach()}
    for number in range(2):
        expected |= {f"model.layers.{number}.{name}": value for name, value in block_drawn(8, 12, 4, 2, 2).items()}
    has_drawn(model, expected | {"model.norm.weight": torch.ones(8)} | drawn([("lm_head", 8, 6)]))
    expect_shape(logits, (1, 6, 6), "the logits")
    expect(logits[0], documented["logits"], "the logits")


@task(7)
def test_documented_file(learner, documented):
    """The lesson's file of 77 bytes holds the tensor that the lesson names."""
    header = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    data = len(header).to_bytes(8, "little") + header + bytes.fromhex("0000003f000000c0")
    got = learner.read_safetensors(data)
    expect(got, {"a": torch.tensor([0.5, -2.0])})
    expect(got["a"], documented["file"], "the tensor")


@task(8)
def test_documented_distribution(learner, documented):
    """The lesson's four words have the probabilities worked out by hand, for each way to choose."""
    logits = torch.tensor([0.5, 0.25, 0.125, 0.125]).log()
    options = {"plain": (1.0,), "cold": (0.5,), "two": (1.0, 2), "most": (1.0, None, 0.8), "both": (1.0, 3, 0.8)}
    for name, values in options.items():
        expect(learner.next_distribution(logits, *values), documented[name])
    expect(learner.next_distribution(logits, 0.0), torch.tensor([1.0, 0.0, 0.0, 0.0]), tolerance=NEAR)


@task(9, after="documented_model")
def test_documented_generation(learner, documented):
    """The lesson's small model goes on with the lesson's tokens, and draws those that its generator gives."""
    model, prompt = learner.Llama(CONFIG, seed=123), torch.tensor(TOKEN_IDS)[:, :3]
    expect(learner.generate(model, prompt, 7), documented["greedy"])
    with on_cpu(learner):
        model = learner.Llama(CONFIG, seed=123)
        drawn_ids = learner.generate(model, prompt, 7, 1.0, generator=torch.Generator().manual_seed(26))
    expect(drawn_ids, documented["drawn"])
