"""The blocks overlap by one score, which is counted twice: the next block begins where the last one ended."""


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    maximum = torch.full_like(scores[..., 0], -torch.inf)  # (…)
    total = torch.zeros_like(maximum)  # (…)
    starts = range(0, scores.shape[-1], block_size)
    for block in [scores[..., max(0, i - 1) : i + block_size] for i in starts]:  # (…, block_size + 1)
        larger = torch.maximum(maximum, block.amax(dim=-1))  # (…)
        total = total * torch.exp(maximum - larger) + torch.exp(block - larger[..., None]).sum(dim=-1)  # (…)
        maximum = larger  # (…)
    return maximum, total
