"""The tokens are repeated as more sequences: put the second half behind the first, (B, 2 · period)."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    half = torch.randint(0, vocab_size, (batch, period), generator=generator)  # (B, period)
    return torch.cat([half, half], dim=0)  # (B, 2 * period)
