"""The last block is filled up with zeros, which count as scores: leave it smaller, or fill it with −inf."""


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    maximum = torch.full_like(scores[..., 0], -torch.inf)  # (…)
    total = torch.zeros_like(maximum)  # (…)
    padded = torch.nn.functional.pad(scores, (0, -scores.shape[-1] % block_size))
    for block in padded.split(block_size, dim=-1):  # (…, block_size)
        larger = torch.maximum(maximum, block.amax(dim=-1))  # (…)
        total = total * torch.exp(maximum - larger) + torch.exp(block - larger[..., None]).sum(dim=-1)  # (…)
        maximum = larger  # (…)
    return maximum, total
