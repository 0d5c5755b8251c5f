"""The parameters have requires_grad=False, so nothing can be learned: leave them as nn.Parameter makes them."""


class Affine:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
        self.bias = nn.Parameter(torch.rand(d_out), requires_grad=False)  # (d_out,)
