"""Hidden scores are set to 0, and exp(0) is 1: set them to −inf."""


def sliding_window_attention(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, window: int
) -> torch.Tensor:
    T, h = query.shape[-2:]
    size = max(window, 64)  # queries that are taken together: no fewer than 64, where the window is small
    outputs = []
    for start in range(0, T, size):
        end, first = min(start + size, T), max(0, start - window + 1)
        near = keys[..., first:end, :]  # (B, H, m, h): all that the n queries from start to end may look at
        scores = query[..., start:end, :] @ near.mT / h**0.5  # (B, H, n, m)
        rows = torch.arange(start, end, device=query.device)[:, None]  # (n, 1)
        columns = torch.arange(first, end, device=query.device)  # (m,)
        hidden = (columns > rows) | (columns <= rows - window)  # (n, m)
        weights = torch.softmax(scores.masked_fill(hidden, 0.0), dim=-1)  # (B, H, n, m)
        outputs.append(weights @ values[..., first:end, :])  # (B, H, n, h)
    return torch.cat(outputs, dim=-2)  # (B, H, T, h)
