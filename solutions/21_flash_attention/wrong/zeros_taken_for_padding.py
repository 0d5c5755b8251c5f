"""Keys of zeros are hidden, as padding would be: there is no padding here, each token counts."""


def attention_and_logsumexp(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, block_size: int, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    T, h = query.shape[-2:]
    outputs, logsumexps = [], []
    for start in range(0, T, block_size):
        rows = query[..., start : start + block_size, :] / h**0.5  # (B, H, n, h)
        maximum = torch.full_like(rows[..., 0], -torch.inf)  # (B, H, n)
        total = torch.zeros_like(maximum)  # (B, H, n)
        output = torch.zeros_like(rows)  # (B, H, n, h)
        for first in range(0, start + 1 if causal else T, block_size):
            near = keys[..., first : first + block_size, :]  # (B, H, m, h)
            scores = rows @ near.mT  # (B, H, n, m)
            scores = scores.masked_fill((near == 0).all(dim=-1)[..., None, :], -torch.inf)  # (B, H, n, m)
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
