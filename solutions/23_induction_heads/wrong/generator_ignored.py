"""The generator is not used: hand it on to torch.randint."""


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    half = torch.randint(0, vocab_size, (batch, period))  # (B, period)
    return torch.cat([half, half], dim=1)  # (B, 2 * period)
