"""The running maximum becomes that of the block that was just read: keep the larger of both, which the sum is counted from."""


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    maximum = torch.full_like(scores[..., 0], -torch.inf)  # (…)
    total = torch.zeros_like(maximum)  # (…)
    for block in scores.split(block_size, dim=-1):  # (…, block_size), the last one may be smaller
        larger = torch.maximum(maximum, block.amax(dim=-1))  # (…)
        total = total * torch.exp(maximum - larger) + torch.exp(block - larger[..., None]).sum(dim=-1)  # (…)
        maximum = block.amax(dim=-1)  # (…)
    return maximum, total
