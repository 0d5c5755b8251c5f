"""The bias is drawn before the weight: a seed gives its numbers in the order of the draws, and the weight comes first."""


class Affine:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.bias = nn.Parameter(torch.rand(d_out))  # (d_out,)
        self.weight = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
