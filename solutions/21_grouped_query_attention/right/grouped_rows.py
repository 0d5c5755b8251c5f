"""Style: queries of a group stand in a dimension of their own and broadcast against the group's keys: nothing is copied."""

import torch
from torch import nn


def repeat_kv(x, repeats):
    return x.unsqueeze(2).expand(-1, -1, repeats, -1, -1).flatten(1, 2)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, num_kv_groups):
        super().__init__()
        if d_out % num_heads > 0:
            raise ValueError
        if num_heads % num_kv_groups > 0:
            raise ValueError
        self.G, self.R, self.h = num_kv_groups, num_heads // num_kv_groups, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, self.G * self.h, bias=False)
        self.W_value = nn.Linear(d_in, self.G * self.h, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.W_query(x).reshape(B, T, self.G, self.R, self.h).permute(0, 2, 3, 1, 4)  # (B, G, R, T, h)
        k = self.W_key(x).reshape(B, T, self.G, 1, self.h).permute(0, 2, 3, 1, 4)  # (B, G, 1, T, h)
        v = self.W_value(x).reshape(B, T, self.G, 1, self.h).permute(0, 2, 3, 1, 4)
        mask = torch.full((T, T), float("-inf"), dtype=x.dtype, device=x.device).triu(1)
        weights = (q @ k.mT * self.h**-0.5 + mask).softmax(-1)
        return self.out_proj((weights @ v).permute(0, 3, 1, 2, 4).flatten(2))
