"""The last token is never drawn: randint leaves out its upper end already."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    half = torch.randint(0, vocab_size - 1, (batch, period), generator=generator)  # (B, period)
    return torch.cat([half, half], dim=1)  # (B, 2 * period)
