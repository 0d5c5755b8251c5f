"""weights_for_v1 gives the layers themselves: exercise 07 needs their weight matrices."""


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return sa_v2.W_query, sa_v2.W_key, sa_v2.W_value
