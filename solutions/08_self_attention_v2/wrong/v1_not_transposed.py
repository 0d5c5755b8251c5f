"""weights_for_v1 gives the weights as nn.Linear keeps them, (d_out, d_in): exercise 07 has them the other way round."""


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return tuple(layer.weight.detach() for layer in (sa_v2.W_query, sa_v2.W_key, sa_v2.W_value))
