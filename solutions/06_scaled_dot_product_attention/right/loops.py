"""Style: explicit loops, leading dimensions by recursion, a softmax of one's own with the maximum taken off."""

import torch


def attention_score(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    total = query.new_zeros(())
    for i in range(len(query)):
        total = total + query[i] * key[i]
    return total


def softmax(scores):
    shifted = [score - max(scores).detach() for score in scores]
    exponentials = [score.exp() for score in shifted]
    total = sum(exponentials)
    return torch.stack([e / total for e in exponentials])


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    if query.ndim == 1:
        root = len(query) ** 0.5
        return softmax([attention_score(query, key) / root for key in keys])
    if query.ndim == 2:
        return torch.stack([scaled_attention_weights(q, keys) for q in query])
    return torch.stack([scaled_attention_weights(q, k) for q, k in zip(query, keys)])


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    if query.ndim > 2:
        return torch.stack([scaled_dot_product_attention(*parts) for parts in zip(query, keys, values)])
    if query.ndim == 2:
        return torch.stack([scaled_dot_product_attention(q, keys, values) for q in query])
    context = torch.zeros(values.shape[-1], dtype=values.dtype, device=values.device)
    for weight, value in zip(scaled_attention_weights(query, keys), values):
        context += weight * value
    return context


def score_variances(query: torch.Tensor, keys: torch.Tensor):
    sequences = zip(query.reshape(-1, *query.shape[-2:]), keys.reshape(-1, *keys.shape[-2:]))
    scores = [attention_score(q, k) for queries, ks in sequences for q in queries for k in ks]
    root = keys.shape[-1] ** 0.5
    return [spread(scores), spread([score / root for score in scores])]


def spread(numbers):
    mean = sum(numbers) / len(numbers)
    return sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
