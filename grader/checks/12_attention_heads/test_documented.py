"""What the source documents print, and the numbers that a seed gives to the parameters."""

import torch

from grader.authors import expect, expect_drawn, expect_shape, has_parameters, manual_seed, task


def drawn(seed, layers):
    """The parameters of nn.Linear(d_in, d_out, bias) layers, created one after the other from the seed."""
    torch.set_rng_state(seed) if isinstance(seed, torch.Tensor) else manual_seed(seed)
    made = {name: torch.nn.Linear(*sizes) for name, sizes in layers.items()}
    return {f"{name}.{part}": p.detach() for name, layer in made.items() for part, p in layer.named_parameters()}


def has_drawn(layer, expected):
    """The layer has these parameters, with these numbers, whatever their names."""
    has_parameters(layer, {name: value.shape for name, value in expected.items()}, named=False)
    expect_drawn(layer, expected)


def attended(parameters, x, head=""):
    """What torch's own attention gives with the weights of one head: (B, T, head_size)."""
    projected = [x @ parameters[f"{head}{name}.weight"].mT for name in ("query", "key", "value")]
    return torch.nn.functional.scaled_dot_product_attention(*projected)


@task(1)
def test_documented_head(learner, documented):
    """AttentionHead(32, 8) draws query, key and value in this order; its output has the printed shape, and is right."""
    x = torch.randn(1, 3, 32, generator=torch.Generator().manual_seed(89))
    for seed in (89, 12):
        layer = learner.AttentionHead(32, 8, seed=seed)
        context = layer(x)
        parameters = drawn(seed, dict.fromkeys(("query", "key", "value"), (32, 8, False)))
        has_drawn(layer, parameters)
    expect_shape(context, documented["head_shape"].value)
    expect(tuple(context.shape), documented["head_shape"], "the shape of the output")
    expect(context, attended(parameters, x))


@task(2)
def test_heads_in_order(learner, documented):
    """MultiHeadSelfAttention(32, 4) draws head after head, then output_linear, and mixes the heads' outputs."""
    parts = [f"heads.{head}.{name}" for head in range(4) for name in ("query", "key", "value")]
    layers = dict.fromkeys(parts, (32, 8, False)) | {"output_linear": (32, 32, True)}
    x = torch.randn(1, 3, 32, generator=torch.Generator().manual_seed(89))
    for seed in (89, 12):
        layer = learner.MultiHeadSelfAttention(32, 4, seed=seed)
        output = layer(x)
        parameters = drawn(seed, layers)
        has_drawn(layer, parameters)
    heads = torch.cat([attended(parameters, x, f"heads.{head}.") for head in range(4)], dim=-1)
    expect(output, heads @ parameters["output_linear.weight"].mT + parameters["output_linear.bias"])
    layer = learner.MultiHeadSelfAttention(4, 2, seed=123)
    expect(layer(torch.arange(8.0).reshape(1, 2, 4))[0, 0], documented["mixed"])


@task(3)
def test_documented_causal_head(learner, documented):
    """CausalHead(32, 16), drawn as in the document, gives the printed attention weights and shapes."""
    manual_seed(1337)
    torch.randn(4, 8, 2)  # what the document draws first
    torch.randint(0, 10, (3, 2))
    x = torch.randn(1, 8, 32)
    layers = {"key": (32, 16), "query": (32, 16), "value": (32, 16), "out": (16, 32)}
    state = torch.get_rng_state()
    layer = learner.CausalHead(32, 16, seed=state)
    output = layer(x)
    parameters = drawn(state, layers)
    has_drawn(layer, parameters)
    expect(tuple(x.shape), documented["input_dimension"], "the shape of the input")
    expect_shape(output, documented["output_dimension"].value)
    expect(tuple(output.shape), documented["output_dimension"], "the shape of the output")

    weights = seen_weights(layer, parameters, x)
    expect(weights, documented["causal_weights"], "the matrix of attention weights")
    values = x @ parameters["value.weight"].mT + parameters["value.bias"]
    context = weights @ values
    expect(tuple(context.shape), documented["context_shape"], "the shape of weights @ values")
    expected = context @ parameters["out.weight"].mT + parameters["out.bias"]
    expect(output, expected, "out(weights @ values)", tolerance=1e-4)


def seen_weights(layer, parameters, x):
    """The attention weights (1, T, T) of a causal head: token j's value is the j-th one-hot vector, out shows it."""
    tokens, (head_size, embed_dim) = x.shape[1], parameters["value.weight"].shape
    one_hot = torch.zeros(head_size, embed_dim)
    one_hot[:tokens] = torch.linalg.pinv(x[0].double().mT).float()  # one_hot @ x[0, j] is 1 at j, else 0
    shown = {"value.weight": one_hot, "value.bias": torch.zeros(head_size)}
    shown |= {"out.weight": torch.eye(embed_dim, head_size), "out.bias": torch.zeros(embed_dim)}
    layer.load(parameters | shown)
    output = layer(x)
    expect_shape(output, x.shape)
    return output[..., :tokens]
