"""The bias begins at zeros: draw it with torch.rand, after the weight."""


class Affine:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
        self.bias = nn.Parameter(torch.zeros(d_out))  # (d_out,)
