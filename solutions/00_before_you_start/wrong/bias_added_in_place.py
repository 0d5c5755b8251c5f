"""forward of Affine changes its weight or bias: each call writes into the bias, so the second one gives something else."""


class Affine:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            self.bias.add_(1)
        return x @ self.weight + self.bias - 1  # (T, d_out)
