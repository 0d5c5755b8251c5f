"""The tokens are floating-point numbers: an embedding takes whole ones."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    half = torch.randint(0, vocab_size, (batch, period), generator=generator)  # (B, period)
    return torch.cat([half, half], dim=1).float()  # (B, 2 * period)
