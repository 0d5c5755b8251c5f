"""Style: every input laid out as a batch of matrices for torch.bmm, log-softmax, standard deviations squared."""

import torch


def as_batch(x):
    """(d,), (T, d) or (…, T, d) -> (N, T, d)."""
    return x.reshape(-1, *x.shape[-2:]) if x.dim() > 1 else x.view(1, 1, -1)


def raw_scores(query, keys):
    scores = torch.bmm(as_batch(query), as_batch(keys).transpose(1, 2))  # (N, T_q, T_k)
    return scores.reshape(*query.shape[:-1], keys.shape[-2])


def attention_score(query, key):
    return torch.bmm(query.reshape(1, 1, -1), key.reshape(1, -1, 1)).squeeze()


def scaled_attention_weights(query, keys):
    scores = raw_scores(query, keys)
    scores *= 1 / query.shape[-1] ** 0.5  # our own tensor, so in place is fine
    return scores.log_softmax(-1).exp()


def scaled_dot_product_attention(query, keys, values):
    weights = scaled_attention_weights(query, keys)  # (…, T_q, T_k)
    weights = weights.reshape(-1, weights.shape[-1]) if keys.dim() == 2 else weights
    context = torch.bmm(as_batch(weights), as_batch(values))
    return context.reshape(*query.shape[:-1], values.shape[-1])


def score_variances(query, keys):
    scores = raw_scores(query, keys)
    return scores.std() ** 2, (scores / keys.shape[-1] ** 0.5).std() ** 2
