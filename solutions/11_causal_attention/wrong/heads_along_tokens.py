"""The outputs of the heads are joined along the tokens: they belong side by side, in the last dimension."""


class MultiHeadAttentionWrapper:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([head(x) for head in self.heads], dim=1)  # (B, T, num_heads * d_out)
