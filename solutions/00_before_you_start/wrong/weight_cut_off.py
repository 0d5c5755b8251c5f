"""forward of Affine detaches the weight: no gradient reaches it, and it would never learn."""


class Affine:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.detach() + self.bias  # (T, d_in) @ (d_in, d_out) + (d_out,) -> (T, d_out)
