"""The printed numbers of the source documents: two sentences, one batch, and the variances of the scores."""

import functools

import torch

from grader.authors import expect, expect_shape, manual_seed, task
from grader.sentence import JOURNEY, inputs

WORD = 1  # "is", the second word of the second sentence
PARTNER = 4  # the key whose score the second document prints alone
TOKEN_IDS = [0, 4, 5, 2, 1, 3]  # "Life is short, eat dessert first"


@functools.cache
def journey():
    """Query of "journey" (2,), all keys (6, 2) and values (6, 2) of the first sentence."""
    manual_seed(123)
    W_query, W_key, W_value = (torch.rand(3, 2) for _ in range(3))  # (d_in, d_out) each
    x = inputs()  # (6, 3)
    return x[JOURNEY] @ W_query, x @ W_key, x @ W_value


@functools.cache
def life():
    """Query of "is" (24,), all keys (6, 24) and values (6, 28) of the second sentence."""
    manual_seed(123)
    x = torch.nn.Embedding(6, 16)(torch.tensor(TOKEN_IDS)).detach()  # (6, 16)
    manual_seed(123)
    W_Q, W_K, W_V = torch.rand(24, 16), torch.rand(24, 16), torch.rand(28, 16)
    return W_Q @ x[WORD], x @ W_K.T, x @ W_V.T


@functools.cache
def three_tokens():
    """Queries and keys of a batch of one sequence: (1, 3, 16) each."""
    manual_seed(89)
    x = torch.randn((1, 3, 5))
    query, key, _ = (torch.nn.Linear(5, 16, bias=False) for _ in range(3))
    return query(x).detach(), key(x).detach()


@functools.cache
def normal_queries_and_keys():
    """Standard normal queries and keys, (1, 8, 16) each, after all that the document draws before them."""
    manual_seed(1337)
    torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2)), torch.randn(1, 8, 32)
    for _ in ("key", "query", "value"):
        torch.nn.Linear(32, 16)
    torch.nn.Linear(16, 32)
    keys = torch.randn(1, 8, 16)
    return torch.randn(1, 8, 16), keys


def scores_of(learner, query, keys):
    """The learner's score of the query with each key, side by side."""
    scores = [learner.attention_score(query, key) for key in keys]
    for score in scores:
        expect_shape(score, (), "the score of one query and one key")
    return torch.stack(scores)


@task(1)
def test_documented_scores_of_journey(learner, documented):
    """The scores of “journey” with itself and with all six words match the printed numbers."""
    query, keys, _ = journey()
    scores = scores_of(learner, query, keys)
    expect(scores[JOURNEY], documented["score_22"], "the score of “journey” with itself")
    expect(scores[JOURNEY], documented["score_22_again"], "the score of “journey” with itself")
    expect(scores, documented["scores_2"], "the row of scores with the six keys")
    expect(scores, documented["scores_2_again"], "the row of scores with the six keys")


@task(1)
def test_documented_scores_of_is(learner, documented):
    """The scores of “is” in “Life is short, eat dessert first” match the printed numbers."""
    query, keys, _ = life()
    scores = scores_of(learner, query, keys)
    expect(scores[PARTNER], documented["omega_24"], "the score of “is” with “dessert”")
    expect(scores, documented["omega_2"], "the row of scores with the six keys")


@task(2)
def test_documented_weights_of_one_query(learner, documented):
    """The weights of one query match the printed numbers, for both sentences."""
    query, keys, _ = journey()
    weights = learner.scaled_attention_weights(query, keys)
    expect(keys.shape[-1], documented["d_k"], "d_k")
    expect(weights, documented["weights_2"], "the row of weights of “journey”")
    expect(weights, documented["weights_2_again"], "the row of weights of “journey”")
    query, keys, _ = life()
    weights = learner.scaled_attention_weights(query, keys)
    expect(weights, documented["attention_weights_2"], "the row of weights of “is”")
    expect(tuple(weights.shape), documented["attention_weights_2_shape"], "the shape of the weights")


@task(2)
def test_documented_weights_of_a_batch(learner, documented):
    """The weights of a batch match the printed numbers, and each row sums to 1."""
    weights = learner.scaled_attention_weights(*three_tokens())
    expect(weights, documented["weights_of_the_batch"])
    expect(weights.sum(dim=-1), documented["row_sums_of_the_batch"], "the sum of each row")


@task(3)
def test_documented_context_vectors(learner, documented):
    """The context vectors of “journey” and of “is” match the printed numbers."""
    context = learner.scaled_dot_product_attention(*journey())
    expect(context, documented["context_2"], "the context vector of “journey”")
    expect(context, documented["context_2_again"], "the context vector of “journey”")
    query, keys, values = life()
    context = learner.scaled_dot_product_attention(query, keys, values)
    expect(context, documented["context_vector_2"], "the context vector of “is”")
    expect(tuple(context.shape), documented["context_vector_2_shape"], "the shape of the context vector")
    expect(tuple(context.shape), documented["context_vector_2_shape_again"], "the shape of the context vector")
    expect(tuple(values.shape), documented["values_shape"], "the shape of the values")


@task(4)
def test_documented_variances(learner, documented):
    """The variances of the scores match the printed numbers: near d_k = 16 when raw, near 1 when scaled."""
    query, keys = normal_queries_and_keys()
    printed = (documented["variance_of_wei"], documented["variance_of_scaled_wei"])
    expect(learner.score_variances(query, keys), printed, "the pair (raw, scaled)")
    # The scores of a vector with the rows of the unit matrix are its own entries.
    unit = torch.eye(16).expand(1, 16, 16).contiguous()  # (1, 16, 16)
    expect(learner.score_variances(unit, keys)[0], documented["variance_of_k"], "the variance of k")
    expect(learner.score_variances(query, unit)[0], documented["variance_of_q"], "the variance of q")
