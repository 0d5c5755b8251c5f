"""The weights reach below 0 and above 1, as randn draws them: torch.rand draws evenly from 0 to 1."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W_query = nn.Parameter(torch.randn(d_in, d_out))  # (d_in, d_out)
        self.W_key = nn.Parameter(torch.randn(d_in, d_out))  # (d_in, d_out)
        self.W_value = nn.Parameter(torch.randn(d_in, d_out))  # (d_in, d_out)
