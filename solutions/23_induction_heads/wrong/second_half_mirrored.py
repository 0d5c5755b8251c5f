"""The second half runs backwards: repeat the tokens in the same order."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    half = torch.randint(0, vocab_size, (batch, period), generator=generator)  # (B, period)
    return torch.cat([half, half.flip(1)], dim=1)  # (B, 2 * period)
