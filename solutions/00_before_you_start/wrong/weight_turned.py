"""The weight has the shape (d_out, d_in): here it stands on the right of x, so it is (d_in, d_out)."""


class Affine:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(d_out, d_in))  # (d_out, d_in)
        self.bias = nn.Parameter(torch.rand(d_out))  # (d_out,)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias  # (T, d_in) @ (d_in, d_out) + (d_out,) -> (T, d_out)
