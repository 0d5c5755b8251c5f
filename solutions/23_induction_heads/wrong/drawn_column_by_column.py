"""The tokens are drawn as (period, batch) and turned: torch.randint is asked for (batch, period)."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    half = torch.randint(0, vocab_size, (period, batch), generator=generator).T  # (B, period)
    return torch.cat([half, half], dim=1)  # (B, 2 * period)
