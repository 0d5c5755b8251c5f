"""The parameters cannot be trained: leave out requires_grad=False."""


class CrossAttention:
    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq), requires_grad=False)  # (d_in, d_out_kq)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq), requires_grad=False)  # (d_in, d_out_kq)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v), requires_grad=False)  # (d_in, d_out_v)
