"""torch.sqrt is given an int, d_k, and takes tensors alone: write d_k ** 0.5 or math.sqrt(d_k)."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / torch.sqrt(keys.shape[-1]), dim=-1)  # (…, T_q, T_k)
