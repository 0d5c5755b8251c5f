"""The last block is left out where the block size does not divide the number of scores."""


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    maximum = torch.full_like(scores[..., 0], -torch.inf)  # (…)
    total = torch.zeros_like(maximum)  # (…)
    whole = scores.shape[-1] // block_size * block_size
    for block in scores[..., :whole].split(block_size, dim=-1):  # (…, block_size)
        larger = torch.maximum(maximum, block.amax(dim=-1))  # (…)
        total = total * torch.exp(maximum - larger) + torch.exp(block - larger[..., None]).sum(dim=-1)  # (…)
        maximum = larger  # (…)
    return maximum, total
