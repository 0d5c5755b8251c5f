"""Hidden checks: fresh tokens, weights and models against loops and calls of torch.nn.functional in float64."""

import torch
from torch.nn import functional as F

from grader.authors import (
    Mismatch,
    expect,
    expect_shape,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    same_gradients,
    task,
    trained_state,
)

# (B, period, vocab_size, d_model, context_length, num_layers, num_heads). Each is above and below the others somewhere.
MODELS = (
    (3, 3, 7, 4, 6, 2, 2),
    (2, 5, 5, 8, 12, 1, 4),
    (4, 2, 11, 6, 9, 3, 3),
    (1, 4, 3, 4, 8, 2, 1),
)
LAYERS = ("W_query", "W_key", "W_value", "out_proj")
FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "previous_token_score": "fresh_previous_token",
    "induction_score": "fresh_induction",
    "second_half_loss": "fresh_loss",
}
ALL = (
    {"repeated_tokens": "fresh_tokens"}
    | FUNCTIONS
    | {"without_head": "fresh_removal", "find_induction_head": "fresh_head"}
)
TRAINED = (32, 64, 64, 2, 4)
MARGIN = 1e-3  # by which a head must lead, where the leader is judged


def random_state(rng, vocab_size: int, d_model: int, context_length: int, num_layers: int, num_heads: int = 1) -> dict:
    """Random parameters of a model, whose weights differ clearly, and which does not make rounding errors larger."""
    root = d_model**0.5
    state = {"token_embedding.weight": rng.randn(vocab_size, d_model)}
    state["position_embedding.weight"] = rng.randn(context_length, d_model)
    for number in range(num_layers):
        for name, scale in zip(LAYERS, (1.0, 1.0, 0.7, 0.7), strict=True):
            state[f"layers.{number}.{name}.weight"] = scale * rng.randn(d_model, d_model) / root
    return state | {"unembedding.weight": rng.randn(vocab_size, d_model) / root}


def repeated(rng, batch: int, period: int, vocab_size: int) -> torch.Tensor:
    """Tokens that repeat; they do not lie row by row in memory."""
    return rng.integers(0, vocab_size, period, batch).repeat(2, 1).T


def true_model(ids: torch.Tensor, state, layers: int, heads: int, gone=(-1, -1)) -> tuple[torch.Tensor, torch.Tensor]:
    """The attention weights and the logits in float64, where the head `gone` (layer, number) adds nothing."""
    wide = {name: value.double() for name, value in state.items()}
    x = F.embedding(ids, wide["token_embedding.weight"]) + wide["position_embedding.weight"][: ids.shape[1]]
    weights = []
    for number in range(layers):
        of_this = [wide[f"layers.{number}.{name}.weight"] for name in LAYERS]
        q, k, v = (F.linear(x, matrix).unflatten(-1, (heads, -1)).transpose(1, 2) for matrix in of_this[:3])
        one_hot = torch.eye(ids.shape[1], dtype=torch.float64).expand(*q.shape[:2], -1, -1)
        weights.append(F.scaled_dot_product_attention(q, k, one_hot, is_causal=True))
        parts = list((weights[-1] @ v).unbind(dim=1))
        if number == gone[0]:
            parts[gone[1]] = torch.zeros_like(parts[0])
        x = x + F.linear(torch.cat(parts, dim=-1), of_this[3])
    return torch.stack(weights), F.linear(x, wide["unembedding.weight"])


def true_loss(logits: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """The mean over the predictions of tokens period + 1 …, one by one."""
    period, losses = ids.shape[1] // 2, []
    for t in range(period + 1, 2 * period):
        losses.append(F.cross_entropy(logits[:, t - 1], ids[:, t], reduction="none"))
    return torch.stack(losses).mean()


def true_scores(weights: torch.Tensor, pairs) -> torch.Tensor:
    """The mean of weights[t, s] over the pairs (t, s)."""
    return sum(weights[..., t, s].double() for t, s in pairs) / len(pairs)


def previous(weights: torch.Tensor) -> torch.Tensor:
    return true_scores(weights, [(t, t - 1) for t in range(1, weights.shape[-1])])


def induction(weights: torch.Tensor, period: int) -> torch.Tensor:
    return true_scores(weights, [(t, t - period + 1) for t in range(period, 2 * period)])


# Task 1


@task(1)
def test_fresh_tokens(learner, rng):
    """repeated_tokens draws the first half from the generator (or from torch's own) and repeats it."""
    for batch, period, vocabulary in ((2, 3, 9), (1, 5, 4), (4, 2, 30), (3, 6, 2)):
        seed = rng.integer(0, 1 << 30)
        half = torch.randint(0, vocabulary, (batch, period), generator=torch.Generator().manual_seed(seed))
        expected = torch.cat([half, half], dim=1)
        expect(learner.repeated_tokens(batch, period, vocabulary, seed=seed), expected)
        given = torch.Generator().manual_seed(seed)
        expect(learner.repeated_tokens(batch, period, vocabulary, given, seed=seed + 1), expected)


# Task 2


@task(2)
def test_fresh_previous_token(learner, rng):
    """previous_token_score is the mean weight on the token before, for each matrix by itself."""
    for shape in ((5, 5), (3, 2, 2), (2, 3, 4, 6, 6), (1, 7, 7)):
        weights = rng.rand(*shape)
        expect(learner.previous_token_score(weights), previous(weights).float())
    weights = rng.rand(4, 4, 3).permute(2, 0, 1)
    expect(learner.previous_token_score(weights), previous(weights).float())


@task(2)
def test_fresh_induction(learner, rng):
    """induction_score is the mean weight on the token after the first occurrence, in the second half."""
    for *shape, period in ((3,), (2, 2), (2, 3, 4), (2, 1, 3, 5), (8,)):
        weights = rng.rand(*shape, 2 * period, 2 * period)
        expect(learner.induction_score(weights, period), induction(weights, period).float())
    weights = rng.rand(6, 6, 2).permute(2, 0, 1)
    expect(learner.induction_score(weights, 3), induction(weights, 3).float())


# Task 3


@task(3)
def test_fresh_loss(learner, rng):
    """second_half_loss is the mean loss of the whole second half but its first token."""
    for batch, period, *sizes in MODELS:
        state, ids = random_state(rng, *sizes), repeated(rng, batch, period, sizes[0])
        model = learner.AttentionOnlyTransformer(*sizes, state=state)
        expected = true_loss(true_model(ids, state, *sizes[3:])[1], ids)
        expect(learner.second_half_loss(model, ids), expected.float())


# Task 4


@task(4)
def test_fresh_removal(learner, rng):
    """without_head gives the logits of a model in which that head adds nothing, and later layers see it."""
    for batch, period, *sizes in MODELS:
        state, ids = random_state(rng, *sizes), repeated(rng, batch, period, sizes[0])
        for layer, head in {(0, 0), (0, sizes[4] - 1), (sizes[3] - 1, sizes[4] // 2)}:
            model = learner.AttentionOnlyTransformer(
                *sizes, state=state
            )  # a new one: another removal may be left in it
            expected = true_model(ids, state, *sizes[3:], gone=(layer, head))[1].float()
            expect(learner.without_head(model, ids, layer, head), expected)


@task(4, after="fresh_removal")
def test_removals_add_up(learner, rng):
    """A removal leaves the model whole, and what single heads add sums to what the layer adds."""
    state, ids = trained_state("15_induction_heads"), repeated(rng, 3, 8, 32)
    model = learner.AttentionOnlyTransformer(*TRAINED, state=state)
    whole = model(ids)
    expect_shape(whole, (3, 16, 32))
    added = 0.0
    for head in range(4):
        logits = learner.without_head(model, ids, 1, head)
        expect_shape(logits, (3, 16, 32))
        added = added + whole - logits
    without = state | {"layers.1.out_proj.weight": torch.zeros(64, 64)}
    expected = whole - true_model(ids, without, 2, 4)[1].float()
    expect(added, expected, "the sum of what each head of the last layer adds", tolerance=1e-4)
    expect(model(ids), whole, "what the model gives afterwards")


# Task 5


@task(5)
def test_fresh_head(learner, rng):
    """find_induction_head gives the head with the highest score, averaged over the batch."""
    for sizes in ((7, 6, 8, 2, 3), (5, 4, 8, 3, 2), (9, 8, 8, 1, 4)):
        state, ids, best = with_a_leader(rng, *sizes)
        model = learner.AttentionOnlyTransformer(*sizes, state=state)
        found = learner.find_induction_head(model, ids)
        expect(found, best)
        if [type(part) for part in found] != [int, int]:
            raise Mismatch("layer and head are not two ints")


def with_a_leader(rng, *sizes: int):
    """Parameters, tokens and the leading head, where it leads clearly, and where looking at one sequence, at the last
    layer, at the largest or smallest scores, or at the wrong diagonal finds other heads, which can be told apart."""
    heads = sizes[4]
    while True:
        state, ids = random_state(rng, *sizes), repeated(rng, 4, 3, sizes[0])
        weights = true_model(ids, state, *sizes[3:])[0]
        scores = induction(weights, 3).transpose(0, 1).flatten(1)  # (B, all heads)
        mean, order = scores.mean(dim=0), scores.mean(dim=0).sort(descending=True)
        others = (scores[0], scores.amax(dim=0), previous(weights).mean(dim=1).flatten(), -mean)
        best, (first, largest, back, lowest) = int(order.indices[0]), (int(one.argmax()) for one in others)
        layer, head = divmod(best, heads)
        in_last_layer = len(mean) - heads + int(mean[-heads:].argmax())
        clear = order.values[0] - order.values[1] > MARGIN and (head, layer) != divmod(back, heads)
        if clear and len({first, largest, in_last_layer}) == 3 and best not in (first, largest, back, lowest):
            return state, ids, (layer, head)


@task(5, after="fresh_head")
def test_first_of_equals(learner, rng):
    """If several heads look at exactly the same, find_induction_head gives the first."""
    for layers, heads in ((2, 2), (1, 4)):
        state = random_state(rng, 7, 4, 6, layers)
        state = {name: 0 * value if "W_query" in name else value for name, value in state.items()}
        model = learner.AttentionOnlyTransformer(7, 4, 6, layers, heads, state=state)
        expect(learner.find_induction_head(model, repeated(rng, 2, 3, 7)), (0, 0))


# All tasks


@task(5, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients flow back to the weights you score, and to every parameter of the model whose loss you take."""
    weights = rng.rand(2, 3, 6, 6)
    same_gradients(learner.previous_token_score, reference.previous_token_score, weights)
    same_gradients(learner.induction_score, reference.induction_score, weights, 3)
    state, ids = random_state(rng, 7, 4, 6, 2), repeated(rng, 2, 3, 7)
    mine, theirs = (one.AttentionOnlyTransformer(7, 4, 6, 2, 2, state=state) for one in (learner, reference))
    expected = reference.second_half_loss.gradients(theirs, ids)
    got = learner.second_half_loss.gradients(mine, ids)
    expect(got, expected, "the gradients of the loss", tolerance=2e-5)


@task(5, each=FUNCTIONS | {"without_head": "fresh_removal"})
def test_dtype_and_device(learner, reference, rng):
    """Works in float64 and on other devices: results keep the dtype and device of weights or model."""
    weights, wide = rng.rand(2, 3, 6, 6), (torch.float64,)
    keeps_dtype(learner.previous_token_score, reference.previous_token_score, weights, dtypes=wide)
    keeps_dtype(learner.induction_score, reference.induction_score, weights, 3, dtypes=wide)
    keeps_device(learner.previous_token_score, weights)
    keeps_device(learner.induction_score, weights, 3)
    state, ids = random_state(rng, 7, 4, 6, 2), repeated(rng, 2, 3, 7)
    for name, *args in (("second_half_loss",), ("without_head", 0, 1)):
        target = getattr(learner, name)
        model = learner.AttentionOnlyTransformer(7, 4, 6, 2, 2, state=state)
        keeps_device(target, model, ids, *args)
        model = learner.AttentionOnlyTransformer(7, 4, 6, 2, 2, state=state).to(dtype=torch.float64)
        logits = true_model(ids, state, 2, 2, gone=args or (-1, -1))[1]
        expect(target(model, ids, *args), logits if args else true_loss(logits, ids))


@task(5, each={name: checks for name, checks in ALL.items() if name != "repeated_tokens"})
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result; weights, tokens and model stay as they are."""
    weights = rng.rand(2, 3, 6, 6)
    keeps_inputs(learner.previous_token_score, weights)
    keeps_inputs(learner.induction_score, weights, 3)
    state, ids = random_state(rng, 7, 4, 6, 2), repeated(rng, 2, 3, 7)
    model = learner.AttentionOnlyTransformer(7, 4, 6, 2, 2, state=state)
    for training in (True, False):
        model.train(training)
        keeps_inputs(learner.second_half_loss, model, ids)
        keeps_inputs(learner.without_head, model, ids, 1, 0)
        keeps_inputs(learner.find_induction_head, model, ids)
        facts = model.describe()
        expect(facts["parameters"], state, "the model's parameters after the calls")
        expect([facts["frozen"], facts["training"]], [[], training], "what is frozen in the model, and its mode,")


@task(5, each=ALL)
def test_argument_names(learner, rng):
    """The arguments of all six functions have the names used in the lesson."""
    learner.repeated_tokens(batch=2, period=3, vocab_size=7, generator=torch.Generator().manual_seed(1))
    learner.previous_token_score(weights=rng.rand(2, 6, 6))
    learner.induction_score(weights=rng.rand(2, 6, 6), period=3)
    model, ids = learner.AttentionOnlyTransformer(7, 4, 6, 2, 2), repeated(rng, 2, 3, 7)
    learner.second_half_loss(model=model, token_ids=ids)
    learner.without_head(model=model, token_ids=ids, layer=1, head=0)
    learner.find_induction_head(model=model, token_ids=ids)
