"""W_query, W_key and W_value have biases: only out_proj has one."""


class CachedAttention:
    def __init__(self, d_in: int, d_out: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out)
        self.W_key = nn.Linear(d_in, d_out)
        self.W_value = nn.Linear(d_in, d_out)
        self.out_proj = nn.Linear(d_out, d_out)
