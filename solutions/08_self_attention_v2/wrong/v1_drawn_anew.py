"""weights_for_v1 draws new weights: give those of the layer it gets."""


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return tuple(
        torch.rand(layer.in_features, layer.out_features) for layer in (sa_v2.W_query, sa_v2.W_key, sa_v2.W_value)
    )
