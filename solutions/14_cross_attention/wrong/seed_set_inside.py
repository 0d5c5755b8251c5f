"""The seed is set inside __init__: then every layer is born with the same weights, leave the seed to the caller."""


class CrossAttention:
    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int):
        super().__init__()
        torch.manual_seed(123)
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))  # (d_in, d_out_kq)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))  # (d_in, d_out_kq)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))  # (d_in, d_out_v)
