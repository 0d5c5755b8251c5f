"""Style: the mask in a buffer that grows with the longest sequence; heads folded into the batch; bmm."""

import torch
from torch import nn


def repeat_kv(x, repeats):
    return torch.cat([x[:, g : g + 1].repeat(1, repeats, 1, 1) for g in range(x.shape[1])], dim=1)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, num_kv_groups):
        super().__init__()
        head_dim, rest = divmod(d_out, num_heads)
        repeats, other = divmod(num_heads, num_kv_groups)
        if rest or other:
            raise ValueError(f"{d_out} / {num_heads} / {num_kv_groups}")
        self.head_dim, self.repeats = head_dim, repeats
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out // repeats, bias=False)
        self.W_value = nn.Linear(d_in, d_out // repeats, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)
        self.register_buffer("future", torch.ones(1, 1).triu(1).bool())

    def heads(self, layer, x):
        return layer(x).view(*x.shape[:2], -1, self.head_dim).transpose(1, 2)

    def forward(self, x):
        b, t, _ = x.shape
        if t > len(self.future):
            self.future = torch.ones(t, t, device=x.device).triu(1).bool()
        q = self.heads(self.W_query, x).flatten(0, 1)
        k = repeat_kv(self.heads(self.W_key, x), self.repeats).flatten(0, 1)
        v = repeat_kv(self.heads(self.W_value, x), self.repeats).flatten(0, 1)
        scores = torch.bmm(q, k.mT).masked_fill(self.future[:t, :t], -torch.inf)
        out = torch.bmm(torch.softmax(scores * self.head_dim**-0.5, -1), v)
        return self.out_proj(out.unflatten(0, (b, -1)).transpose(1, 2).reshape(b, t, -1))
