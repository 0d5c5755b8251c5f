"""The layer sets the seed itself, so each has the same numbers: the seed is the caller's affair."""


class Affine:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        torch.manual_seed(123)
        self.weight = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
        self.bias = nn.Parameter(torch.rand(d_out))  # (d_out,)
