"""The heads are cut out of the tokens' order: cut each token's numbers, then put the heads in front."""


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:  # given
    return x.reshape(x.shape[0], num_heads, x.shape[1], -1)
