"""The root of h is cut to a whole number, as int() and math.isqrt do: keep its digits after the point."""


def attention_and_logsumexp(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, block_size: int, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    T, h = query.shape[-2:]
    outputs, logsumexps = [], []
    for start in range(0, T, block_size):
        rows = query[..., start : start + block_size, :] / int(h**0.5)  # (B, H, n, h)
        maximum = torch.full_like(rows[..., 0], -torch.inf)  # (B, H, n)
        total = torch.zeros_like(maximum)  # (B, H, n)
        output = torch.zeros_like(rows)  # (B, H, n, h)
        for first in range(0, start + 1 if causal else T, block_size):
            scores = rows @ keys[..., first : first + block_size, :].mT  # (B, H, n, m)
            if causal and first == start:
                scores = hide_future(scores, start, first)
            larger = torch.maximum(maximum, scores.amax(dim=-1))  # (B, H, n)
            weights = torch.exp(scores - larger[..., None])  # (B, H, n, m)
            shrink = torch.exp(maximum - larger)  # (B, H, n)
            total = total * shrink + weights.sum(dim=-1)
            output = output * shrink[..., None] + weights @ values[..., first : first + block_size, :]
            maximum = larger
        outputs.append(output / total[..., None])
        logsumexps.append(maximum + torch.log(total))
    return torch.cat(outputs, dim=-2), torch.cat(logsumexps, dim=-1)
