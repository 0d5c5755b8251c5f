"""repeat_kv changes the shape of x itself: leave x as it is, the caller still needs it."""


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    return x.unsqueeze_(2).expand(-1, -1, repeats, -1, -1).flatten(1, 2)  # (B, G * repeats, T, h)
