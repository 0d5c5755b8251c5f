"""The scores are multiplied by √d_k: divide by it, so that the softmax becomes softer."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores * keys.shape[-1] ** 0.5, dim=-1)  # (…, T_q, T_k)
