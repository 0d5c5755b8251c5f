"""The keys handed in are divided in place by /=, so the caller's tensor changes: write keys = keys / …."""


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        keys /= keys.shape[-1] ** 0.5  # (…, T_k, d_k)
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores, dim=-1) @ values  # (…, T_q, d_v)
