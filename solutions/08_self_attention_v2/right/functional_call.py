"""Style: nanoGPT-like names, the three layers called by functional_call with a dictionary of their parameters."""

import math

import torch
import torch.nn as nn
from torch.func import functional_call
from torch.nn import functional as F


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.n_embd, self.head_size = d_in, d_out
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q, k, v = (functional_call(m, dict(m.named_parameters()), x) for m in self.children())
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = F.softmax(att, dim=-1)
        return att @ v


def weights_for_v1(sa_v2):
    with torch.no_grad():
        state = sa_v2.state_dict()
        return tuple(state[f"W_{name}.weight"].t().clone() for name in ("query", "key", "value"))
