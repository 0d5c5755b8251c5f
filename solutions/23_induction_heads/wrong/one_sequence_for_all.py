"""All sequences of the batch are the same: draw each anew."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    half = torch.randint(0, vocab_size, (batch, period), generator=generator)  # (B, period)
    return torch.cat([half, half], dim=1)[:1].repeat(batch, 1)  # (B, 2 * period)
