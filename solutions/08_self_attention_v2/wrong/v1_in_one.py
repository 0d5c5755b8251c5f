"""weights_for_v1 gives one stacked tensor: give a tuple of three."""


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.stack([layer.weight.detach().T for layer in (sa_v2.W_query, sa_v2.W_key, sa_v2.W_value)])
