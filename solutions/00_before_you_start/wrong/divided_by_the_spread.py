"""centred_rows divides by the standard deviation as well: take the mean of each row away, and nothing else."""


def centred_rows(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean(dim=1, keepdim=True)) / x.std(dim=1, keepdim=True)
