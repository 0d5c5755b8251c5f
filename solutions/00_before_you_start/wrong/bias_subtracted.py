"""forward of Affine takes the bias away: it is added."""


class Affine:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight - self.bias  # (T, d_in) @ (d_in, d_out) - (d_out,) -> (T, d_out)
