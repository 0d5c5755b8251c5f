"""W_value is drawn before W_key: the order of creation is W_query, W_key, W_value."""


class CrossAttention:
    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))  # (d_in, d_out_kq)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))  # (d_in, d_out_v)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))  # (d_in, d_out_kq)
