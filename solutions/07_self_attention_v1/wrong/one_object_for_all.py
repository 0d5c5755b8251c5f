"""The three names stand for one object, so there is one matrix: draw each of the three by itself."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W_query = self.W_key = self.W_value = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
