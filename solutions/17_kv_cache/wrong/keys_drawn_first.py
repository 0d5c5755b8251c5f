"""The layers are drawn in another order: W_query comes first, then W_key, W_value, out_proj."""


class CachedAttention:
    def __init__(self, d_in: int, d_out: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)
