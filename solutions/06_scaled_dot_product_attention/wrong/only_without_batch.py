"""keys.T turns round all dimensions: with a batch, only the last two may change places. Look at transpose."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.T  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (…, T_q, T_k)
