"""Keys and values share one layer: W_value is a layer of its own."""


class CachedAttention:
    def __init__(self, d_in: int, d_out: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = self.W_key
        self.out_proj = nn.Linear(d_out, d_out)
