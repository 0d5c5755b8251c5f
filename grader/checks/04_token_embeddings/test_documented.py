"""The printed numbers of the source document, for the sentence "Life is short, eat dessert first"."""

import torch

from grader.authors import Mismatch, expect, manual_seed, task

SENTENCE = "Life is short, eat dessert first"
VOCABULARY = {"Life": 0, "dessert": 1, "eat": 2, "first": 3, "is": 4, "short": 5}
TOKEN_IDS = (0, 4, 5, 2, 1, 3)
DOCUMENTED_SEED = 123


@task(1)
def test_documented_vocabulary(learner, documented):
    """The vocabulary of the sentence is the one in the notebook."""
    expect(learner.build_vocabulary(SENTENCE), documented["vocabulary"], "the vocabulary")


@task(2)
def test_documented_token_ids(learner, documented):
    """The token ids of the sentence match the printed numbers."""
    ids = learner.encode(SENTENCE, dict(VOCABULARY))
    expect(ids, torch.tensor(TOKEN_IDS), "the tensor of token ids")  # type and dtype too
    expect(ids, documented["sentence_vec"], "the tensor of token ids")
    expect(ids, documented["tokens_of_later_edition"], "the tensor of token ids")


@task(3)
def test_documented_embedding(learner, documented):
    """The sentence in 16 dimensions, seed 123, matches the printed numbers."""
    layer = learner.TokenEmbedding(6, 16, seed=DOCUMENTED_SEED)
    embedded = layer(torch.tensor(TOKEN_IDS))
    manual_seed(DOCUMENTED_SEED)
    table = torch.nn.Embedding(6, 16).weight.detach()
    expect(only_parameter(layer), table, "the table, right after the seed,")
    expect(embedded, documented["embedded_sentence"], "the embedded sentence")
    expect(tuple(embedded.shape), documented["embedded_sentence_shape"], "the shape of the embedded sentence")


@task(3)
def test_documented_large_vocabulary(learner, documented):
    """The sentence in 3 dimensions, with room for 50,000 words and seed 123, matches the printed numbers."""
    layer = learner.TokenEmbedding(50_000, 3, seed=DOCUMENTED_SEED)
    expect(layer(torch.tensor(TOKEN_IDS)), documented["x_of_later_edition"], "the embedded sentence")


def only_parameter(layer) -> torch.Tensor:
    """The only parameter: the learner may call the embedding as they like, so no message says its name."""
    parameters = list(layer.parameters().values())
    if len(parameters) != 1:
        held = f"{len(parameters)} parameters" if parameters else "no parameters (a part in a plain list is not seen)"
        raise Mismatch(f"TokenEmbedding holds {held}; expected one: the weight of its torch.nn.Embedding")
    return parameters[0]
