"""torch's ready-made attention; weights_for_v1 gives views that still carry gradients."""

import torch.nn as nn
import torch.nn.functional as F


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        super().__init__()
        self.W_query = nn.Linear(in_features=d_in, out_features=d_out, bias=qkv_bias)
        self.W_key = nn.Linear(in_features=d_in, out_features=d_out, bias=qkv_bias)
        self.W_value = nn.Linear(in_features=d_in, out_features=d_out, bias=qkv_bias)

    def forward(self, x):
        return F.scaled_dot_product_attention(self.W_query(x), self.W_key(x), self.W_value(x))


def weights_for_v1(sa_v2):
    return sa_v2.W_query.weight.T, sa_v2.W_key.weight.mT, sa_v2.W_value.weight.permute(1, 0)


if __name__ == "__main__":
    print(SelfAttention_v2(3, 2))
