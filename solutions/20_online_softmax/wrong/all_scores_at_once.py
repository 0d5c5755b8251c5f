"""One step looks at all scores: take the maximum of one block after the other, and correct the sum where it rises."""


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    maximum = scores.amax(dim=-1)  # (…)
    return maximum, torch.exp(scores - maximum[..., None]).sum(dim=-1)
