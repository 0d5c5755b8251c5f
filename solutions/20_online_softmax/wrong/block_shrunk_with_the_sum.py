"""The new block is added before the sum so far is shrunk, and shrinks with it: shrink the sum first, then add the block."""


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    maximum = scores[..., :block_size].amax(dim=-1)  # (…)
    total = torch.zeros_like(maximum)  # (…)
    for block in scores.split(block_size, dim=-1):  # (…, block_size), the last one may be smaller
        larger = torch.maximum(maximum, block.amax(dim=-1))  # (…)
        total = total + torch.exp(block - larger[..., None]).sum(dim=-1)  # (…)
        total = total * torch.exp(maximum - larger)  # (…)
        maximum = larger  # (…)
    return maximum, total
