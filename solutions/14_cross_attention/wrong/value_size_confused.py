"""W_value has the size of a key: its second size is d_out_v, the size of a context vector."""


class CrossAttention:
    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))  # (d_in, d_out_kq)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))  # (d_in, d_out_kq)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_kq))  # (d_in, d_out_v)
