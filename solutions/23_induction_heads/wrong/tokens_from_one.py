"""Token 0 is never drawn: tokens count from 0."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    half = torch.randint(1, vocab_size, (batch, period), generator=generator)  # (B, period)
    return torch.cat([half, half], dim=1)  # (B, 2 * period)
