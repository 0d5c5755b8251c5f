"""weight is drawn with torch.randn and bias is torch.zeros: the lesson draws both with torch.rand, from 0 to 1."""


class Affine:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_in, d_out))  # (d_in, d_out)
        self.bias = nn.Parameter(torch.zeros(d_out))  # (d_out,)
