"""W_query is drawn second: the same seed then gives other weights, so create W_query first, then W_key, then W_value."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
