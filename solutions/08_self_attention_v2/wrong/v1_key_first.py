"""weights_for_v1 gives W_key before W_query: the order is W_query, W_key, W_value."""


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return tuple(layer.weight.detach().T for layer in (sa_v2.W_key, sa_v2.W_query, sa_v2.W_value))
