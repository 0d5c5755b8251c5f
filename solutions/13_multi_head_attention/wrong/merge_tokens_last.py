"""merge_heads gives the tokens last, (B, H * h, T): a token belongs in a row."""


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(1, 2).flatten(-2).mT  # (B, T, H, h) -> (B, T, H * h)
