"""The pictures: the stripe of the head that is found in the trained model, the one that looks back, and all scores."""

import torch

from grader.authors import Drawing, expect_shape, trained_state

SIZES = (32, 64, 64, 2, 4)  # vocab_size, d_model, context_length, num_layers, num_heads
PERIOD, HEADS, TOKENS = 8, 4, 16
NAMES = ("W_query", "W_key", "W_value", "out_proj")
WORDS = tuple(f"t {position}" for position in range(TOKENS))


def tokens():
    """Sequences of period 8: (16, 16)."""
    half = torch.randint(0, SIZES[0], (TOKENS, PERIOD), generator=torch.Generator().manual_seed(23))
    return half.repeat(1, 2)


def true_weights():
    """The attention weights of the trained model: (2, 16, 4, 16, 16)."""
    state, weights = trained_state("15_induction_heads"), []
    x = state["token_embedding.weight"][tokens()] + state["position_embedding.weight"][:TOKENS]
    future = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    for layer in range(2):
        matrices = [state[f"layers.{layer}.{name}.weight"] for name in NAMES]
        q, k, v = ((x @ matrix.T).unflatten(-1, (HEADS, -1)).transpose(1, 2) for matrix in matrices[:3])
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(future, -torch.inf)
        weights.append(torch.softmax(scores, dim=-1))
        x = x + (weights[-1] @ v).transpose(1, 2).flatten(-2) @ matrices[3].T
    return torch.stack(weights)


def stripe(weights):
    return weights[..., range(PERIOD, TOKENS), range(1, PERIOD + 1)].mean(dim=-1)


def asked(learner):
    """The trained model in the learner's class, and the weights that the learner's code tells of it."""
    model = learner.AttentionOnlyTransformer(*SIZES, state=trained_state("15_induction_heads"))
    weights = learner.all_attention_weights(model, tokens())
    expect_shape(weights, (2, TOKENS, HEADS, TOKENS, TOKENS))
    return model, weights


def ask_stripe(learner):
    model, weights = asked(learner)
    layer, head = learner.find_induction_head(model, tokens())
    return weights[layer, 0, head]


def ask_previous(learner):
    _, weights = asked(learner)
    scores = learner.previous_token_score(weights)
    expect_shape(scores, (2, TOKENS, HEADS))
    layer, head = divmod(int(scores.mean(dim=1).argmax()), HEADS)
    return weights[layer, 0, head]


def ask_scores(learner):
    scores = learner.induction_score(asked(learner)[1], PERIOD)
    expect_shape(scores, (2, TOKENS, HEADS))
    return scores.mean(dim=1)


PICTURES = [
    Drawing(
        "The head that find_induction_head finds",
        expected=lambda documented: true_weights()[1, 0, 0],
        ask=ask_stripe,
        rows=WORDS,
        columns=WORDS,
        note="The stripe: each token of the second half looks at the token after its own first occurrence.",
    ),
    Drawing(
        "The head with the highest previous_token_score",
        expected=lambda documented: true_weights()[0, 0, 1],
        ask=ask_previous,
        rows=WORDS,
        columns=WORDS,
        note="Each token looks at the one before.",
    ),
    Drawing(
        "induction_score of every head",
        expected=lambda documented: stripe(true_weights()).mean(dim=1),
        ask=ask_scores,
        rows=("layer 0", "layer 1"),
        columns=tuple(f"head {head}" for head in range(HEADS)),
    ),
]
