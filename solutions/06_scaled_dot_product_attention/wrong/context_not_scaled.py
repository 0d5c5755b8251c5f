"""The context vectors come from scores that are not divided by √d_k: scaled_attention_weights does it right."""


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores, dim=-1) @ values  # (…, T_q, d_v)
