"""W_key and W_value hold the numbers of W_query once more: draw each matrix by itself, three in all."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        drawn = torch.rand(d_in, d_out)  # (d_in, d_out)
        self.W_query = nn.Parameter(drawn.clone())
        self.W_key = nn.Parameter(drawn.clone())
        self.W_value = nn.Parameter(drawn.clone())
