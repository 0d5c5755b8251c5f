"""MultiHeadSelfAttention shuffles the heads' outputs: first all numbers of head 0, then all of head 1, not one number of each in turn."""


class MultiHeadSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side_by_side = torch.stack([head(x) for head in self.heads], dim=-1).flatten(-2)  # (B, T, embed_dim)
        return self.output_linear(side_by_side)  # (B, T, embed_dim)
