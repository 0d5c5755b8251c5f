"""Style: the past is read in blocks of 256 with an online softmax (exercise 29); keys and values projected at once."""

import torch
from torch import nn
from torch.nn import functional as F

BLOCK = 256


class CachedAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d_out, bias=False) for _ in range(3))
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x, cache=None):
        both = F.linear(x, torch.cat([self.W_key.weight, self.W_value.weight]))
        keys, values = both.unflatten(-1, (2, self.num_heads, -1)).permute(2, 0, 3, 1, 4).unbind()
        if cache is not None:
            keys, values = (torch.cat(pair, dim=2) for pair in zip(cache, (keys, values)))
        queries = self.W_query(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        queries = queries * queries.shape[-1] ** -0.5
        places = torch.arange(keys.shape[2], device=x.device)
        mine = places[len(places) - x.shape[1] :, None]
        largest, total, out = None, 0.0, 0.0
        for k, v, place in zip(keys.split(BLOCK, 2), values.split(BLOCK, 2), places.split(BLOCK)):
            scores = torch.where(place <= mine, queries @ k.mT, -torch.inf)
            top = scores.amax(-1, keepdim=True)
            top = top if largest is None else torch.maximum(largest, top)
            factor = 0.0 if largest is None else torch.exp(largest - top)
            part = torch.exp(scores - top)
            total = total * factor + part.sum(-1, keepdim=True)
            out = out * factor + part @ v
            largest = top
        return self.out_proj((out / total).transpose(1, 2).flatten(2)), (keys, values)
