"""MultiHeadSelfAttention writes the heads' outputs into its input: x belongs to the caller. Make a new tensor."""


class MultiHeadSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side_by_side = x.copy_(torch.cat([head(x) for head in self.heads], dim=-1))  # (B, T, embed_dim)
        return self.output_linear(side_by_side)  # (B, T, embed_dim)
