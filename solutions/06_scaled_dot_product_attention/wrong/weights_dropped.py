"""Some weights are dropped at random: this function has no dropout, every call gives the same."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.dropout(torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1), 0.1, True)  # (…, T_q, T_k)
