"""The last rows of the tables are used wherever an offset is given: the rows start at position offset."""


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = (t[-tokens:] if offset else t[:tokens] for t in (cos, sin))  # (T, h) each
    first, second = x[..., :half], x[..., half:]  # (B, H, T, h / 2) each
    other = torch.cat([-second, first], dim=-1)  # (B, H, T, h)
    return (x * cos + other * sin).to(x.dtype)  # (B, H, T, h)
