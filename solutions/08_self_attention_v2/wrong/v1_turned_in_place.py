"""weights_for_v1 turns the layer's own weights in place: the layer should stay as it was, use .T instead."""


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    layers = (sa_v2.W_query, sa_v2.W_key, sa_v2.W_value)
    for layer in layers:
        layer.weight.data = layer.weight.data.T  # (d_in, d_out)
    return tuple(layer.weight.detach() for layer in layers)
