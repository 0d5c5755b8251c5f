"""MultiHeadSelfAttention joins the heads’ outputs along the tokens: they belong side by side, in the last dimension."""


class MultiHeadSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side_by_side = torch.cat([head(x) for head in self.heads], dim=1)  # (B, T, embed_dim)
        return self.output_linear(side_by_side)  # (B, T, embed_dim)
