"""The second half is drawn anew: it is the first half once more."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    half = torch.randint(0, vocab_size, (batch, period), generator=generator)  # (B, period)
    return torch.cat(
        [half, torch.randint(0, vocab_size, (batch, period), generator=generator)], dim=1
    )  # (B, 2 * period)
