"""causal_attention_weights takes exp of the bare scores: large ones overflow, so use a softmax that subtracts the largest one first."""


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    powers = torch.exp(mask_scores(scores) / d_k**0.5)  # (…, T, T)
    return powers / powers.sum(dim=-1, keepdim=True)  # (…, T, T)
