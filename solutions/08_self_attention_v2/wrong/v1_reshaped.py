"""weights_for_v1 reshapes the weights to (d_in, d_out): that moves numbers into wrong places, transpose them."""


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return tuple(
        layer.weight.detach().reshape(layer.in_features, layer.out_features)
        for layer in (sa_v2.W_query, sa_v2.W_key, sa_v2.W_value)
    )
