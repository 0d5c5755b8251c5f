"""Style: a loop over the heads, one mask a call, stack of copies, prints."""

import math

import torch
import torch.nn as nn


def repeat_kv(x, repeats):
    copies = []
    for group in range(x.size(1)):
        for _ in range(repeats):
            copies.append(x[:, group])
    return torch.stack(copies, dim=1)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, num_kv_groups):
        super().__init__()
        if d_out % num_heads != 0:
            raise ValueError("num_heads")
        if num_heads % num_kv_groups != 0:
            raise ValueError("num_kv_groups")
        self.num_heads = num_heads
        self.num_kv_groups = num_kv_groups
        self.head_dim = d_out // num_heads
        self.group_size = num_heads // num_kv_groups
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, num_kv_groups * self.head_dim, bias=False)
        self.W_value = nn.Linear(d_in, num_kv_groups * self.head_dim, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        T = x.size(1)
        future = torch.triu(torch.ones(T, T, device=x.device), diagonal=1).bool()
        queries = self.W_query(x).split(self.head_dim, dim=-1)
        keys = self.W_key(x).split(self.head_dim, dim=-1)
        values = self.W_value(x).split(self.head_dim, dim=-1)
        outputs = []
        for head in range(self.num_heads):
            group = head // self.group_size
            print("head", head, "uses group", group)
            scores = queries[head] @ keys[group].transpose(-2, -1) / math.sqrt(self.head_dim)
            weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
            outputs.append(weights @ values[group])
        return self.out_proj(torch.cat(outputs, dim=-1))
