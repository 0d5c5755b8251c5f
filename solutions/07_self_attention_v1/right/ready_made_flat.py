"""torch's ready-made attention on two-dimensional tensors, projections by F.linear."""

import torch
import torch.nn.functional as F


class SelfAttention_v1(torch.nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.register_parameter("W_query", torch.nn.Parameter(torch.rand(d_in, d_out)))
        self.register_parameter("W_key", torch.nn.Parameter(torch.rand(d_in, d_out)))
        self.register_parameter("W_value", torch.nn.Parameter(torch.rand(d_in, d_out)))

    def forward(self, x):
        return F.scaled_dot_product_attention(
            F.linear(x, self.W_query.T), F.linear(x, self.W_key.t()), F.linear(x, self.W_value.mT)
        )
