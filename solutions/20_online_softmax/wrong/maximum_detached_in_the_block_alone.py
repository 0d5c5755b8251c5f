"""The maximum is detached in the block's exponentials alone: detach it in every place or in none."""


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    maximum = torch.full_like(scores[..., 0], -torch.inf)  # (…)
    total = torch.zeros_like(maximum)  # (…)
    for block in scores.split(block_size, dim=-1):  # (…, block_size), the last one may be smaller
        larger = torch.maximum(maximum, block.amax(dim=-1))  # (…)
        total = total * torch.exp(maximum - larger) + torch.exp(block - larger.detach()[..., None]).sum(dim=-1)  # (…)
        maximum = larger  # (…)
    return maximum, total
