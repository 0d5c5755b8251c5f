"""W_key is the same object as W_query, so there are two matrices: draw each of the three by itself."""


class CrossAttention:
    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))  # (d_in, d_out_kq)
        self.W_key = self.W_query  # (d_in, d_out_kq)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))  # (d_in, d_out_v)
