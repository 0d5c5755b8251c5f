"""period is taken for the length of the whole: there are 2 · period tokens."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    half = torch.randint(0, vocab_size, (batch, period // 2), generator=generator)  # (B, period)
    return torch.cat([half, half], dim=1)  # (B, 2 * period)
