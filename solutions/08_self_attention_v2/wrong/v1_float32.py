"""weights_for_v1 turns the weights into float32: they should keep the dtype of the layer."""


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return tuple(layer.weight.detach().T.float() for layer in (sa_v2.W_query, sa_v2.W_key, sa_v2.W_value))
