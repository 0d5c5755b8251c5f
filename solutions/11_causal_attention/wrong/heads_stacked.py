"""The heads get a dimension of their own. Put their outputs side by side in the last dimension: cat, not stack."""


class MultiHeadAttentionWrapper:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([head(x) for head in self.heads], dim=1)  # (B, num_heads, T, d_out)
