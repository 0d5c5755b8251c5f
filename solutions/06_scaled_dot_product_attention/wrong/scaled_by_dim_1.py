"""The scale comes from keys.shape[1]: with a batch that is no longer d_k. Look from the end: keys.shape[-1]."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[1] ** 0.5, dim=-1)  # (…, T_q, T_k)
