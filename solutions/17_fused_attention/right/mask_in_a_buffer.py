"""Style: a bool mask in a saved buffer, cut to the tokens at hand; parameters replaced by new ones; nn.Dropout's rate."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class FusedMultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.d_out = d_out
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("may_attend", torch.ones(context_length, context_length, dtype=torch.bool).tril())

    def forward(self, x):
        b, num_tokens, _ = x.shape
        qkv = self.qkv(x)
        qkv = qkv.view(b, num_tokens, 3, self.num_heads, self.head_dim)
        qkv = qkv.permute(2, 0, 3, 1, 4)
        queries, keys, values = qkv[0], qkv[1], qkv[2]
        use_dropout = self.dropout.p if self.training else 0.0
        mask = self.may_attend[:num_tokens, :num_tokens]
        context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, dropout_p=use_dropout)
        context = context.transpose(1, 2).contiguous().view(b, num_tokens, self.d_out)
        return self.out_proj(context)

    def load_unfused(self, state_dict):
        weights = [state_dict["W_query.weight"], state_dict["W_key.weight"], state_dict["W_value.weight"]]
        self.qkv.weight.data = torch.cat(weights, dim=0)
        if "W_query.bias" in state_dict:
            biases = [state_dict["W_query.bias"], state_dict["W_key.bias"], state_dict["W_value.bias"]]
            self.qkv.bias.data = torch.cat(biases, dim=0)
        self.out_proj.weight.data = state_dict["out_proj.weight"].clone()
        self.out_proj.bias.data = state_dict["out_proj.bias"].clone()
        print("loaded", sorted(state_dict))
