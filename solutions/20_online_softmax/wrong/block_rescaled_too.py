"""The block's own sum is rescaled as well: it is counted from the new maximum already."""


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    maximum = torch.full_like(scores[..., 0], -torch.inf)  # (…)
    total = torch.zeros_like(maximum)  # (…)
    for block in scores.split(block_size, dim=-1):  # (…, block_size), the last one may be smaller
        larger = torch.maximum(maximum, block.amax(dim=-1))  # (…)
        total = (total + torch.exp(block - larger[..., None]).sum(dim=-1)) * torch.exp(maximum - larger)  # (…)
        maximum = larger  # (…)
    return maximum, total
