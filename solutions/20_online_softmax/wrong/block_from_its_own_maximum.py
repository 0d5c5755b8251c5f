"""The block's sum is counted from the block's own maximum: count it from the larger one of both."""


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    maximum = torch.full_like(scores[..., 0], -torch.inf)  # (…)
    total = torch.zeros_like(maximum)  # (…)
    for block in scores.split(block_size, dim=-1):  # (…, block_size), the last one may be smaller
        larger = torch.maximum(maximum, block.amax(dim=-1))  # (…)
        own = torch.exp(block - block.amax(dim=-1, keepdim=True)).sum(dim=-1)
        total = total * torch.exp(maximum - larger) + own  # (…)
        maximum = larger  # (…)
    return maximum, total
