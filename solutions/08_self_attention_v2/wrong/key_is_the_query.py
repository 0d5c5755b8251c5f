"""W_key is the same layer as W_query, so there are two layers: make each of the three by itself."""


class SelfAttention_v2:
    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)  # weight (d_out, d_in), bias (d_out,)
        self.W_key = self.W_query
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
