"""Broadcasting without any matrix product, and a helper that is called dot."""

import torch


def dot(a, b, dim=-1):
    """The learner's own: not torch's."""
    return (a * b).sum(dim)


def dot_product(a, b):
    return dot(a, b)


def attention_scores_for_query(inputs, query):
    return dot(inputs, query)


def attention_scores(inputs):
    return dot(inputs[:, None, :], inputs[None, :, :])


if __name__ == "__main__":
    x = torch.rand(6, 3)
    print(torch.allclose(attention_scores(x), x @ x.T))
