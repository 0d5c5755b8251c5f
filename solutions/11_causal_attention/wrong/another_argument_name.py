"""forward of MultiHeadAttentionWrapper calls its argument X. The lesson calls it x: callers may use the name."""


class MultiHeadAttentionWrapper:
    def forward(self, X: torch.Tensor) -> torch.Tensor:
        x = X
        return torch.cat([head(x) for head in self.heads], dim=-1)  # (B, T, num_heads * d_out)
