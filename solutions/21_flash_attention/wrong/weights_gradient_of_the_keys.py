"""The gradient of the weights is made with the keys: a weight multiplies a value."""


def flash_attention_backward(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    output: torch.Tensor,
    logsumexp: torch.Tensor,
    grad_output: torch.Tensor,
    block_size: int = 64,
    causal: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    T, h = query.shape[-2:]
    delta = (grad_output * output).sum(dim=-1, keepdim=True)  # (B, H, T, 1)
    grad_query, grad_keys, grad_values = torch.zeros_like(query), torch.zeros_like(keys), torch.zeros_like(values)
    for first in range(0, T, block_size):
        near = slice(first, first + block_size)  # m keys
        for start in range(first if causal else 0, T, block_size):
            here = slice(start, start + block_size)  # n queries
            scores = query[..., here, :] @ keys[..., near, :].mT / h**0.5  # (B, H, n, m)
            if causal and first == start:
                scores = hide_future(scores, start, first)
            weights = torch.exp(scores - logsumexp[..., here, None])  # (B, H, n, m)
            grad_weights = grad_output[..., here, :] @ keys[..., near, :].mT  # (B, H, n, m)
            grad_scores = weights * (grad_weights - delta[..., here, :]) / h**0.5  # (B, H, n, m)
            grad_query[..., here, :] += grad_scores @ keys[..., near, :]
            grad_keys[..., near, :] += grad_scores.mT @ query[..., here, :]
            grad_values[..., near, :] += weights.mT @ grad_output[..., here, :]
    return grad_query, grad_keys, grad_values
