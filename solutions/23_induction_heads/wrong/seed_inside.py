"""The seed is set inside, so the tokens are always the same: leave it to the caller."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    torch.manual_seed(0)
    half = torch.randint(0, vocab_size, (batch, period), generator=generator)  # (B, period)
    return torch.cat([half, half], dim=1)  # (B, 2 * period)
