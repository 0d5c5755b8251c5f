"""torch's ready-made attention, with a batch dimension put on and taken off."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super(SelfAttention_v1, self).__init__()
        self.W_query = nn.Parameter(torch.rand((d_in, d_out)), requires_grad=True)
        self.W_key = nn.Parameter(torch.rand((d_in, d_out)), requires_grad=True)
        self.W_value = nn.Parameter(torch.rand((d_in, d_out)), requires_grad=True)

    def forward(self, x):
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        return F.scaled_dot_product_attention(q[None], k[None], v[None])[0]


if __name__ == "__main__":
    torch.manual_seed(123)
    print(SelfAttention_v1(3, 2)(torch.rand(6, 3)))
