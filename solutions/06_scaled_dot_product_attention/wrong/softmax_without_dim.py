"""The softmax is called without dim: torch then chooses dim 0 for three dimensions. Give dim=-1."""

from torch.nn import functional


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return functional.softmax(scores / keys.shape[-1] ** 0.5)  # (…, T_q, T_k)
