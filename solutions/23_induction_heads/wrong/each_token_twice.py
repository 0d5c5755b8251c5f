"""Each token comes twice in a row: the whole first half comes first, then all of it again."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    half = torch.randint(0, vocab_size, (batch, period), generator=generator)  # (B, period)
    return half.repeat_interleave(2, dim=1)  # (B, 2 * period)
