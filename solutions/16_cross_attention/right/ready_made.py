"""torch's ready-made attention, with a batch dimension put on and taken off; prints and a demo."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super(CrossAttention, self).__init__()
        self.d_out_kq = d_out_kq
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq), requires_grad=True)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq), requires_grad=True)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v), requires_grad=True)

    def forward(self, x_1, x_2):
        print("shapes", x_1.shape, x_2.shape)
        q, k, v = x_1 @ self.W_query, x_2 @ self.W_key, x_2 @ self.W_value
        return F.scaled_dot_product_attention(q[None], k[None], v[None]).squeeze(0)


if __name__ == "__main__":
    print(CrossAttention(3, 2, 4)(torch.rand(6, 3), torch.rand(8, 3)))
