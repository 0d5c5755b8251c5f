"""The maximum is detached in the sum but not in the result: detach it in both or in neither."""


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    maximum = torch.full_like(scores[..., 0], -torch.inf)  # (…)
    total = torch.zeros_like(maximum)  # (…)
    for block in scores.split(block_size, dim=-1):  # (…, block_size), the last one may be smaller
        larger = torch.maximum(maximum, block.amax(dim=-1))  # (…)
        fixed = larger.detach()
        total = total * torch.exp(maximum.detach() - fixed) + torch.exp(block - fixed[..., None]).sum(dim=-1)
        maximum = larger  # (…)
    return maximum, total
