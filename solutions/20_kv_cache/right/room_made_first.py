"""Style: room for all tokens is made first and filled from two sides; half types computed in float32; heads in the batch."""

import torch
from torch import nn

WIDE = {torch.float16: torch.float32, torch.bfloat16: torch.float32}


class CachedAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)

    def longer(self, new, old):
        new = new.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)
        past = 0 if old is None else old.shape[2]
        room = new.new_zeros(new.shape[0], self.num_heads, past + new.shape[2], self.head_dim)
        if past:
            room[:, :, :past] = old
        room[:, :, past:] = new
        return room

    def forward(self, x, cache=None):
        old_keys, old_values = cache or (None, None)
        keys, values = self.longer(self.W_key(x), old_keys), self.longer(self.W_value(x), old_values)
        wide = WIDE.get(x.dtype, x.dtype)
        q = self.W_query(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2).flatten(0, 1).to(wide)
        k, v = keys.flatten(0, 1).to(wide), values.flatten(0, 1).to(wide)
        hidden = ~torch.ones(q.shape[1], k.shape[1], dtype=torch.bool, device=x.device).tril(k.shape[1] - q.shape[1])
        scores = torch.bmm(q, k.mT).masked_fill(hidden, -torch.inf) * self.head_dim**-0.5
        context = torch.bmm(scores.softmax(-1), v).to(x.dtype).unflatten(0, (len(x), -1))
        return self.out_proj(context.transpose(1, 2).reshape(len(x), x.shape[1], -1)), (keys, values)
