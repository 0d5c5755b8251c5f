"""Hidden checks: fresh inputs against calls of torch.nn.functional in float64, and what must hold for any model.

They set the parameters by name: another order of creation does not concern them.
"""

import torch
from torch.nn import functional as F

from grader.authors import (
    Mismatch,
    expect,
    expect_shape,
    has_parameters,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    keeps_no_graph,
    learns_alike,
    refuses,
    same_gradients,
    task,
)

# (B, T, d_model, num_heads, context_length). Each number is above and below the others somewhere.
ATTENTION = ((2, 5, 18, 3, 5), (3, 4, 8, 2, 9), (2, 7, 4, 4, 8), (4, 3, 6, 1, 3), (1, 1, 2, 1, 1))
# (B, T, vocab_size, d_model, context_length, num_layers, num_heads)
MODELS = (
    (2, 5, 7, 4, 6, 2, 2),
    (3, 4, 5, 8, 4, 1, 4),
    (4, 3, 11, 2, 5, 3, 1),
    (2, 8, 3, 6, 9, 2, 3),
    (1, 1, 4, 6, 2, 4, 3),
)
LAYERS = ("W_query", "W_key", "W_value", "out_proj")
FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "CausalSelfAttention": "fresh_attention",
    "AttentionOnlyTransformer": "fresh_model",
    "next_token_loss": "fresh_loss",
}
ALL = FUNCTIONS | {"all_attention_weights": "fresh_weights", "generate": "fresh_generation"}
STEPS, RATE = 16, 0.1  # of a training, in which the loss falls to a third in the mean
MARGIN = 1e-3  # by which the largest logit must lead, where the next token is judged


def attention_shapes(d_model: int) -> dict[str, tuple[int, int]]:
    return {f"{name}.weight": (d_model, d_model) for name in LAYERS}


def model_shapes(vocab_size: int, d_model: int, context_length: int, num_layers: int, num_heads: int = 1) -> dict:
    shapes = {"token_embedding.weight": (vocab_size, d_model), "position_embedding.weight": (context_length, d_model)}
    for number in range(num_layers):
        shapes |= {f"layers.{number}.{name}": shape for name, shape in attention_shapes(d_model).items()}
    return shapes | {"unembedding.weight": (vocab_size, d_model)}


def random_state(rng, shapes) -> dict[str, torch.Tensor]:
    """Random parameters of these shapes: weights differ clearly, and layers do not make rounding errors larger."""
    state = {name: rng.randn(*shape) for name, shape in shapes.items()}
    small = {name: 0.7 if name.endswith(("W_value.weight", "out_proj.weight")) else 1.0 for name in state}
    plain = ("token_embedding.weight", "position_embedding.weight")
    return {n: value if n in plain else small[n] * value / value.shape[1] ** 0.5 for n, value in state.items()}


def attention_state(rng, d_model: int) -> dict[str, torch.Tensor]:
    return random_state(rng, attention_shapes(d_model))


def of_layer(state: dict[str, torch.Tensor], number: int) -> dict[str, torch.Tensor]:
    """The parameters of one layer of a model, by their names in that layer."""
    start = f"layers.{number}."
    return {name.removeprefix(start): value for name, value in state.items() if name.startswith(start)}


def true_attention(x: torch.Tensor, state, heads: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights and the output of one layer, in float64."""
    q, k, v = (
        F.linear(x.double(), state[f"{name}.weight"].double()).unflatten(-1, (heads, -1)).transpose(1, 2)
        for name in LAYERS[:3]
    )
    one_hot = torch.eye(x.shape[1], dtype=torch.float64).expand(*q.shape[:2], -1, -1)  # values that show the weights
    weights = F.scaled_dot_product_attention(q, k, one_hot, is_causal=True)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2)
    return weights, F.linear(mixed, state["out_proj.weight"].double())


def true_model(ids: torch.Tensor, state, layers: int, heads: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights of all layers and the logits, in float64."""
    wide = {name: value.double() for name, value in state.items()}
    x = F.embedding(ids, wide["token_embedding.weight"]) + wide["position_embedding.weight"][: ids.shape[1]]
    weights = []
    for number in range(layers):
        of_this, output = true_attention(x, of_layer(wide, number), heads)
        weights.append(of_this)
        x = x + output
    return torch.stack(weights), F.linear(x, wide["unembedding.weight"])


def truly_generated(ids: torch.Tensor, state, count: int, layers: int, heads: int) -> tuple[torch.Tensor, float]:
    """The tokens with `count` more, and the smallest lead of a largest logit on the way."""
    length, lead = len(state["position_embedding.weight"]), float("inf")
    for _ in range(count):
        best = true_model(ids[:, -length:], state, layers, heads)[1][:, -1].topk(2)
        lead = min(lead, float((best.values[:, 0] - best.values[:, 1]).min()))
        ids = torch.cat([ids, best.indices[:, :1]], dim=1)
    return ids, lead


def clear_generation(rng, batch: int, tokens: int, count: int, *sizes: int):
    """Parameters, tokens and what follows them, where no two logits are so close that rounding decides."""
    lead = 0.0
    while lead < MARGIN:
        state, ids = random_state(rng, model_shapes(*sizes)), rng.integers(0, sizes[0], batch, tokens)
        expected, lead = truly_generated(ids, state, count, *sizes[3:])
    return state, ids, expected


# Task 1


@task(1)
def test_attention_parameters(learner):
    """The layer has the lesson's four weight matrices, each drawn separately, and no biases."""
    for d_model, heads in ((6, 3), (4, 1)):
        layer = learner.CausalSelfAttention(d_model, heads, 5)
        has_parameters(layer, attention_shapes(d_model))
        values = list(layer.parameters().values())
        if any(torch.equal(one, two) for index, one in enumerate(values) for two in values[:index]):
            raise Mismatch(
                "two weight matrices hold the same numbers: draw each one separately, and set no seed yourself"
            )


@task(1)
def test_fresh_attention_weights(learner, rng):
    """attention_weights gives each head's causal weights, scaled by its own size; rows sum to 1."""
    for batch, tokens, d_model, heads, length in ATTENTION:
        state, x = attention_state(rng, d_model), rng.randn(batch, tokens, d_model)
        layer = learner.CausalSelfAttention(d_model, heads, length, state=state)
        expect(layer.attention_weights(x), true_attention(x, state, heads)[0].float())
    state = attention_state(rng, 4)
    layer = learner.CausalSelfAttention(4, 2, 7, state=state)
    for tokens in (3, 1, 7):
        x = rng.strided(2, tokens, 4)
        x[0, tokens // 2] = 0.0  # a token like others
        expect(layer.attention_weights(x), true_attention(x, state, 2)[0].float())


@task(1)
def test_fresh_attention(learner, rng):
    """CausalSelfAttention is right for new inputs of other sizes, and for shorter sequences."""
    for batch, tokens, d_model, heads, length in ATTENTION:
        state, x = attention_state(rng, d_model), rng.randn(batch, tokens, d_model)
        layer = learner.CausalSelfAttention(d_model, heads, length, state=state)
        expect(layer(x), true_attention(x, state, heads)[1].float())
    state = attention_state(rng, 4)
    layer = learner.CausalSelfAttention(4, 2, 7, state=state)
    for tokens in (3, 1, 7):
        x = rng.strided(2, tokens, 4)
        x[0, tokens // 2] = 0.0  # a token like others
        expect(layer(x), true_attention(x, state, 2)[1].float())


@task(1)
def test_sum_of_heads(learner, rng):
    """Each head adds to the output independently: the outputs of single heads sum to the whole output."""
    state, x = attention_state(rng, 6), rng.randn(2, 4, 6)
    layer = learner.CausalSelfAttention(6, 3, 4, state=state)
    whole, parts = layer(x), []
    expect_shape(whole, (2, 4, 6))
    for head in range(3):
        alone = torch.zeros(6)
        alone[2 * head : 2 * head + 2] = 1.0  # out_proj sees the numbers of this head
        layer.load(state | {"out_proj.weight": state["out_proj.weight"] * alone})
        parts.append(layer(x))
        expect_shape(parts[-1], (2, 4, 6))
    expect(sum(parts), whole, "the sum of the outputs of one head each")


@task(1)
def test_large_scores(learner):
    """Very large scores (±10,000) neither give NaN nor let a token see the future."""
    x = torch.tensor([[1.0, 1.0, 3.0, 0.0], [1.0, 0.5, 5.0, 0.0], [1.0, -0.5, 7.0, 0.0], [1.0, -1.0, 2.0, 0.0]])
    reads = torch.eye(4)
    state = {
        "W_query.weight": 100 * torch.stack([reads[0], -reads[0], reads[3], reads[3]]),
        "W_key.weight": 100 * reads[[1, 1, 1, 1]],
        "W_value.weight": reads[[2, 2, 2, 3]],
        "out_proj.weight": reads,
    }
    layer = learner.CausalSelfAttention(4, 4, 4, state=state)
    # Head 0 scores the tokens with 10,000, 5,000, −5,000, −10,000 and takes the first; head 1 the other way round.
    # Heads 2 and 3 score all alike: the mean of 3, 5, 7, 2 so far, and of zeros.
    expected = [[3.0, 3.0, 3.0, 0.0], [3.0, 5.0, 4.0, 0.0], [3.0, 7.0, 5.0, 0.0], [3.0, 2.0, 4.25, 0.0]]
    expect(layer(x[None]), torch.tensor([expected]))


@task(1)
def test_attention_refusals(learner, rng):
    """Raises ValueError if num_heads doesn't divide d_model, or if T is larger than context_length."""
    layer = learner.CausalSelfAttention(6, 2, 4)
    expect_shape(layer(rng.randn(2, 4, 6)), (2, 4, 6))
    expect_shape(layer.attention_weights(rng.randn(2, 4, 6)), (2, 2, 4, 4))
    for sizes in ((6, 4, 5), (4, 3, 3), (2, 4, 8)):
        refuses(ValueError, learner.CausalSelfAttention, *sizes)
    for target in (layer, layer.attention_weights):
        refuses(ValueError, target, rng.randn(1, 5, 6))
        refuses(ValueError, target, rng.randn(5, 9, 6))


# Task 2


@task(2)
def test_model_parameters(learner):
    """The model has exactly the lesson's parameters, and each layer draws its own."""
    for sizes in ((7, 4, 6, 2, 2), (5, 6, 3, 1, 3), (3, 2, 8, 3, 1)):
        model = learner.AttentionOnlyTransformer(*sizes)
        has_parameters(model, model_shapes(*sizes))
        values = list(model.parameters().values())
        if any(torch.equal(one, two) for index, one in enumerate(values) for two in values[:index]):
            raise Mismatch(
                "two weight matrices hold the same numbers: draw each one separately, and set no seed yourself"
            )


@task(2)
def test_fresh_model(learner, rng):
    """Models of other sizes give the right logits for new tokens, and for shorter sequences."""
    for batch, tokens, *sizes in MODELS:
        state, ids = random_state(rng, model_shapes(*sizes)), rng.integers(0, sizes[0], batch, tokens)
        model = learner.AttentionOnlyTransformer(*sizes, state=state)
        expect(model(ids), true_model(ids, state, *sizes[3:])[1].float())
    state = random_state(rng, model_shapes(6, 4, 7, 2))
    model = learner.AttentionOnlyTransformer(6, 4, 7, 2, 2, state=state)
    for tokens in (3, 1, 7):
        ids = rng.integers(0, 6, tokens, 2).T
        expect(model(ids), true_model(ids, state, 2, 2)[1].float())


@task(2, after=("fresh_attention", "model_parameters"))
def test_removed_layer(learner, rng):
    """If no head of a layer adds anything, the model works as if that layer weren't there."""
    sizes, ids = (6, 4, 5, 3, 2), rng.integers(0, 6, 2, 5)
    state = random_state(rng, model_shapes(*sizes))
    whole = learner.AttentionOnlyTransformer(*sizes)
    fewer = learner.AttentionOnlyTransformer(6, 4, 5, 2, 2)
    for gone in range(3):
        whole.load(state | {f"layers.{gone}.out_proj.weight": torch.zeros(4, 4)})
        left = [number for number in range(3) if number != gone]
        kept = {f"layers.{new}.{k}": v for new, old in enumerate(left) for k, v in of_layer(state, old).items()}
        fewer.load({name: value for name, value in state.items() if not name.startswith("layers.")} | kept)
        logits = whole(ids)
        expect_shape(logits, (2, 5, 6))
        expect(fewer(ids), logits, "what the model without that layer gives")


@task(2)
def test_no_look_ahead(learner, rng):
    """Changing a later token never changes the logits after an earlier one, even if all scores are 0."""
    shapes = model_shapes(9, 4, 6, 2)
    for zero in ((), tuple(name for name in shapes if "W_key" in name)):
        state = random_state(rng, shapes)
        model = learner.AttentionOnlyTransformer(9, 4, 6, 2, 2, state=state | {name: 0 * state[name] for name in zero})
        ids = rng.integers(0, 9, 2, 6)
        later = torch.cat([ids[:, :3], (ids[:, 3:] + rng.integers(1, 9, 2, 3)) % 9], dim=1)
        before, after = model(ids), model(later)
        expect_shape(before, (2, 6, 9))
        expect_shape(after, (2, 6, 9))
        expect(after[:, :3], before[:, :3], "the part of the first 3 tokens, now that the last 3 are others,")


@task(2)
def test_too_many_tokens(learner, rng):
    """The model takes context_length tokens. More raise a ValueError, as do heads that don't divide."""
    model = learner.AttentionOnlyTransformer(5, 4, 3, 1, 2)
    expect_shape(model(rng.integers(0, 5, 2, 3)), (2, 3, 5))
    for tokens in (4, 8):
        refuses(ValueError, model, rng.integers(0, 5, 2, tokens))
    refuses(ValueError, learner.AttentionOnlyTransformer, 5, 4, 3, 1, 3)


# Task 3


@task(3)
def test_fresh_weights(learner, rng):
    """all_attention_weights gives each layer's weights on what reaches it, for one layer or several."""
    for batch, tokens, *sizes in MODELS[1:]:
        state, ids = random_state(rng, model_shapes(*sizes)), rng.integers(0, sizes[0], batch, tokens)
        model = learner.AttentionOnlyTransformer(*sizes, state=state)
        expect(learner.all_attention_weights(model, ids), true_model(ids, state, *sizes[3:])[0].float())
    state, ids = random_state(rng, model_shapes(6, 4, 7, 2)), rng.integers(0, 6, 4, 2).T
    model = learner.AttentionOnlyTransformer(6, 4, 7, 2, 2, state=state)
    learner.all_attention_weights(model, (ids + 1) % 6)  # leaves nothing behind for the next call
    weights = learner.all_attention_weights(model, ids)
    expect(weights, true_model(ids, state, 2, 2)[0].float())


# Task 4


@task(4)
def test_fresh_loss(learner, rng):
    """next_token_loss is the cross-entropy of each prediction with the next token, without averaging."""
    for batch, tokens, vocabulary in ((2, 5, 7), (3, 2, 4), (1, 6, 3), (4, 4, 4)):
        logits, ids = 3 * rng.randn(batch, tokens, vocabulary), rng.integers(0, vocabulary, batch, tokens)
        expect(learner.next_token_loss(logits, ids), true_loss(logits, ids))
    logits, ids = rng.strided(2, 4, 5), rng.integers(0, 5, 4, 2).T
    expect(learner.next_token_loss(logits, ids), true_loss(logits, ids))
    logits = 10_000.0 * rng.integers(-1, 2, 2, 4, 5, dtype=torch.float32)
    losses = learner.next_token_loss(logits, ids)
    expect(losses, true_loss(logits, ids), "the loss of logits of ±10,000", tolerance=2e-3)  # a float32 has no more


def true_loss(logits: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    flat = F.cross_entropy(logits[:, :-1].double().flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    return flat.unflatten(0, (len(ids), -1)).float()


# Task 5


@task(5)
def test_fresh_generation(learner, rng):
    """generate appends the token with the largest logit, again and again, for each sequence."""
    for batch, tokens, count, *sizes in ((3, 2, 4, 7, 6, 8, 2, 2), (1, 1, 3, 5, 4, 4, 1, 2), (2, 4, 0, 6, 4, 5, 2, 1)):
        state, ids, expected = clear_generation(rng, batch, tokens, count, *sizes)
        model = learner.AttentionOnlyTransformer(*sizes, state=state)
        expect(learner.generate(model, ids, count), expected)


@task(5, after="fresh_generation")
def test_first_of_equals(learner):
    """If several logits are equally large, generate takes the first."""
    sizes = (5, 2, 4, 1, 1)
    state = {name: torch.zeros(shape) for name, shape in model_shapes(*sizes).items()}
    # All that is left are the embeddings: after token 0 the logits are 1 2 0 2 2, after the others 0.
    state["token_embedding.weight"][0] = torch.tensor([1.0, 0.0])
    state["unembedding.weight"][:, 0] = torch.tensor([1.0, 2.0, 0.0, 2.0, 2.0])
    model = learner.AttentionOnlyTransformer(*sizes, state=state)
    expect(learner.generate(model, torch.tensor([[0], [3]]), 2), torch.tensor([[0, 1, 0], [3, 0, 1]]))


@task(5, after="fresh_generation")
def test_long_generation(learner, rng):
    """If the text is longer than context_length, the model is fed its last tokens, from position 0 on."""
    for batch, tokens, count in ((2, 3, 6), (2, 9, 3)):
        state, ids, expected = clear_generation(rng, batch, tokens, count, 7, 6, 4, 2, 2)
        model = learner.AttentionOnlyTransformer(7, 6, 4, 2, 2, state=state)
        expect(learner.generate(model, ids, count), expected)


@task(5, after="fresh_generation")
def test_generation_leaves_the_model(learner, rng):
    """generate builds no graph for gradients, and leaves the model and grad mode as they were."""
    sizes = (5, 4, 4, 1, 2)
    state, ids, expected = clear_generation(rng, 2, 2, 2, *sizes)
    model = learner.AttentionOnlyTransformer(*sizes, state=state)
    for training in (True, False):
        model.train(training)
        expect(keeps_no_graph(learner.generate, model, ids, 2), expected)
        facts = model.describe()
        expect(facts["training"], training, "whether the model is in training mode afterwards")
        expect(facts["frozen"], [], "the list of parameters that are not trainable afterwards")
        expect(facts["parameters"], state, "the parameters afterwards")


# All tasks


def twins(learner, reference, rng, *sizes):
    """The learner's model and the solution's, with the same random parameters."""
    state = random_state(rng, model_shapes(*sizes))
    return tuple(one.AttentionOnlyTransformer(*sizes, state=state) for one in (learner, reference))


def layers(learner, reference, rng, *sizes):
    """The learner's layer and the solution's, with the same random parameters."""
    state = attention_state(rng, sizes[0])
    return tuple(one.CausalSelfAttention(*sizes, state=state) for one in (learner, reference))


@task(5, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients flow back to the inputs, the logits and every parameter, and they are correct."""
    mine, theirs = layers(learner, reference, rng, 6, 3, 5)
    x = rng.randn(2, 4, 6)
    same_gradients(mine, theirs, x)
    same_gradients(mine.attention_weights, theirs.attention_weights, x)
    ids = rng.integers(0, 7, 2, 5)
    same_gradients(*twins(learner, reference, rng, 7, 4, 6, 2, 2), ids)
    same_gradients(learner.next_token_loss, reference.next_token_loss, rng.randn(2, 5, 7), ids)


@task(5, after=("fresh_model", "fresh_loss", "fresh_generation", "gradients"))
def test_training(learner, reference, rng):
    """Trained on a new short text, your model's loss falls as ours does, and then generate writes the same."""
    sizes, lead = (7, 6, 9, 2, 2), 0.0
    while lead < MARGIN:
        state, ids = random_state(rng, model_shapes(*sizes)), rng.integers(0, 7, 2, 8)
        theirs = reference.AttentionOnlyTransformer(*sizes, state=state).to(dtype=torch.float64)
        losses = theirs.descend(ids, loss=reference.next_token_loss, steps=STEPS, rate=RATE)
        expected, lead = truly_generated(ids[:, :3], theirs.parameters(), 6, 2, 2)
    mine = learner.AttentionOnlyTransformer(*sizes, state=state).to(dtype=torch.float64)
    learner.generate(mine, ids[:, :3], 6)  # leaves nothing behind that training stumbles over
    learns_alike(mine, losses, ids, loss=learner.next_token_loss, rate=RATE)
    expect(learner.generate(mine, ids[:, :3], 6), expected, "what generate writes after the training")


@task(5, each=ALL)
def test_dtype_and_device(learner, reference, rng):
    """Works in float64 and on other devices: results keep the parameters' dtype and device."""
    wide, ids = (torch.float64,), rng.integers(0, 7, 2, 5)
    keeps_dtype(learner.next_token_loss, reference.next_token_loss, rng.randn(2, 5, 7), ids, dtypes=wide)
    keeps_device(learner.next_token_loss, rng.randn(2, 5, 7), ids)
    mine, theirs = layers(learner, reference, rng, 6, 3, 5)
    x = rng.randn(2, 4, 6).double()
    keeps_dtype(mine, theirs, x, dtypes=wide)
    expect(mine.attention_weights(x), theirs.attention_weights(x))
    keeps_device(mine, x)
    expect_shape(mine.attention_weights.on("meta", x), (2, 3, 4, 4), "the weights for inputs on another device")
    mine, theirs = twins(learner, reference, rng, 7, 4, 6, 2, 2)
    keeps_dtype(mine, theirs, ids, dtypes=wide)
    expect(learner.all_attention_weights(mine, ids), reference.all_attention_weights(theirs, ids))
    mine.to(dtype=torch.float32)
    keeps_device(mine, ids)
    for target, *args in ((learner.all_attention_weights, ids), (learner.generate, ids, 3)):
        keeps_device(target, twins(learner, reference, rng, 7, 4, 6, 2, 2)[0], *args)


@task(5, each=ALL)
def test_inputs_unchanged(learner, reference, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    mine, theirs = layers(learner, reference, rng, 6, 3, 5)
    x, ids = rng.randn(2, 4, 6), rng.integers(0, 7, 2, 5)
    keeps_inputs(mine, x)
    keeps_inputs(mine.attention_weights, x)
    expect(mine.parameters(), theirs.parameters(), "the layer's parameters after the calls")
    mine, theirs = twins(learner, reference, rng, 7, 4, 6, 2, 2)
    keeps_inputs(mine, ids)
    keeps_inputs(learner.next_token_loss, rng.randn(2, 5, 7), ids)
    keeps_inputs(learner.all_attention_weights, mine, ids)
    for tokens in (5, 6, 9):  # fewer than context_length, as many, and more: then a part of them is fed
        keeps_inputs(learner.generate, mine, rng.integers(0, 7, 2, tokens), 3)
    expect(mine.parameters(), theirs.parameters(), "the model's parameters after the calls")


@task(5, each=ALL)
def test_argument_names(learner, rng):
    """The arguments of both classes and of the three functions have the names used in the lesson."""
    layer = learner.CausalSelfAttention(d_model=4, num_heads=2, context_length=7)
    layer(x=rng.randn(2, 3, 4))
    layer.attention_weights(x=rng.randn(2, 3, 4))
    sizes = {"vocab_size": 5, "d_model": 4, "context_length": 6, "num_layers": 1, "num_heads": 2}
    model, ids = learner.AttentionOnlyTransformer(**sizes), rng.integers(0, 5, 2, 3)
    model(token_ids=ids)
    learner.all_attention_weights(model=model, token_ids=ids)
    learner.next_token_loss(logits=rng.randn(2, 3, 5), token_ids=ids)
    learner.generate(model=model, token_ids=ids, max_new_tokens=1)
