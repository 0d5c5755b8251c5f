"""The matrices have the shape (d_out, d_in): tokens are rows, so each is (d_in, d_out)."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_out, d_in))  # (d_in, d_out)
        self.W_key = nn.Parameter(torch.rand(d_out, d_in))  # (d_in, d_out)
        self.W_value = nn.Parameter(torch.rand(d_out, d_in))  # (d_in, d_out)
