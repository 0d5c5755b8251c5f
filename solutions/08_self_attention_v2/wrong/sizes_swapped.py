"""The layers are nn.Linear(d_out, d_in): the size that goes in comes first."""


class SelfAttention_v2:
    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False):
        super().__init__()
        self.W_query = nn.Linear(d_out, d_in, bias=qkv_bias)  # weight (d_out, d_in), bias (d_out,)
        self.W_key = nn.Linear(d_out, d_in, bias=qkv_bias)
        self.W_value = nn.Linear(d_out, d_in, bias=qkv_bias)
