"""The seed is set inside __init__: then every layer is born with the same weights, leave the seed to the caller."""


class SelfAttention_v2:
    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False):
        super().__init__()
        torch.manual_seed(789)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)  # weight (d_out, d_in), bias (d_out,)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
