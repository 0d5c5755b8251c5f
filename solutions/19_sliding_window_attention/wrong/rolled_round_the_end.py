"""The first tokens see the last ones of the text, as torch.roll brings them round: before the first token a window holds nothing."""


def sliding_window_attention(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, window: int
) -> torch.Tensor:
    T, h = query.shape[-2:]
    size = max(window, 64)  # queries that are taken together: no fewer than 64, where the window is small
    outputs = []
    for start in range(0, T, size):
        end = min(start + size, T)
        near = keys  # (B, H, m, h): all that the n queries from start to end may look at
        scores = query[..., start:end, :] @ near.mT / h**0.5  # (B, H, n, m)
        rows = torch.arange(start, end, device=query.device)[:, None]  # (n, 1)
        columns = torch.arange(T, device=query.device)  # (m,)
        hidden = (rows - columns) % T >= window  # (n, m)
        weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)  # (B, H, n, m)
        outputs.append(weights @ values)  # (B, H, n, h)
    return torch.cat(outputs, dim=-2)  # (B, H, T, h)
