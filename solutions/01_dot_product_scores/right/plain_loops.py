"""Plain loops over entries and tokens, as the document does it first."""

import torch


def dot_product(a, b):
    dot = torch.zeros((), dtype=a.dtype, device=a.device)
    for index, element in enumerate(a):
        dot = dot + element * b[index]
    return dot


def attention_scores_for_query(inputs, query):
    scores = torch.empty(inputs.shape[0], dtype=inputs.dtype, device=inputs.device)
    for i, x_i in enumerate(inputs):
        scores[i] = torch.dot(x_i, query)
    return scores


def attention_scores(inputs):
    tokens = inputs.shape[0]
    scores = torch.empty(tokens, tokens, dtype=inputs.dtype, device=inputs.device)
    for i, x_i in enumerate(inputs):
        for j, x_j in enumerate(inputs):
            scores[i, j] = dot_product(x_i, x_j)
    return scores
