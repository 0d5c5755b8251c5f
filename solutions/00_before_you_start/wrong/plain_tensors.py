"""The layer keeps plain tensors, which nothing trains, moves or saves: wrap each in nn.Parameter."""


class Affine:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.weight = torch.rand(d_in, d_out)  # (d_in, d_out)
        self.bias = torch.rand(d_out)  # (d_out,)
