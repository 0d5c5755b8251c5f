"""causal_mask is cut from a mask for 128 tokens: there may be more, so make it for T."""


def causal_mask(T: int) -> torch.Tensor:
    return torch.ones(128, 128, dtype=torch.bool).tril()[:T, :T]  # (T, T)
