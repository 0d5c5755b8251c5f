"""The weights lie from 0 to 1 but are not the first numbers after the seed: draw nothing before them, and each as torch.rand(d_in, d_out)."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.scale = float(torch.rand(1)) * 0 + d_out**0.5
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
