"""Style: half types pass through float32, the root is a tensor, keys stand as rows until the end."""

import torch


def wide(x):
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def raw_scores(query, keys):
    return (wide(keys) @ wide(query).movedim(-1, -2)).movedim(-1, -2) if query.ndim > 1 else wide(keys).mv(wide(query))


def attention_score(query, key):
    return query.dot(key)


def scaled_attention_weights(query, keys):
    d_k = torch.tensor(float(keys.shape[-1]))
    scores = raw_scores(query, keys) / torch.sqrt(d_k)
    return torch.nn.Softmax(dim=-1)(scores).to(query.dtype)


def scaled_dot_product_attention(query, keys, values):
    weights = scaled_attention_weights(wide(query), wide(keys))
    return torch.matmul(weights, wide(values)).to(values.dtype)


def score_variances(query, keys):
    scores = raw_scores(query, keys)
    root = torch.sqrt(torch.tensor(keys.shape[-1], dtype=scores.dtype, device=scores.device))
    return tuple(torch.var(x, correction=1).to(query.dtype) for x in (scores, scores / root))
