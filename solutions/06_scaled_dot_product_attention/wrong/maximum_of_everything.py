"""The maximum of the whole tensor is taken off: a row far below it gives 0/0. Each row needs its own maximum."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    exponentials = torch.exp(scaled - scaled.max())  # (…, T_q, T_k)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)  # (…, T_q, T_k)
