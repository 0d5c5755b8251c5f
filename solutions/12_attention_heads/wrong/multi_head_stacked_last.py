"""MultiHeadSelfAttention stacks the heads’ outputs in a new dimension: join them along the last one, which is there."""


class MultiHeadSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        stacked = torch.stack([head(x) for head in self.heads], dim=-1)
        return self.output_linear(stacked)  # (B, T, embed_dim)
