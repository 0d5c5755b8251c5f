"""Neighbouring numbers go to different heads: head h takes the h-th slice of each token's numbers."""


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:  # given
    return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)


def merge_heads(x: torch.Tensor) -> torch.Tensor:  # given
    return x.permute(0, 2, 3, 1).flatten(-2)
