"""Some weights are negative: take what torch.rand gives, from 0 to 1, as it is."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out) - 0.5)  # (d_in, d_out)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out) - 0.5)  # (d_in, d_out)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out) - 0.5)  # (d_in, d_out)
