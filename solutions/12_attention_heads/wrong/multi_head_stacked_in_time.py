"""MultiHeadSelfAttention joins the heads along the tokens and reshapes: the outputs of one token must stand side by side, along the last dimension."""


class MultiHeadSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side_by_side = torch.cat([head(x) for head in self.heads], dim=1).reshape(x.shape)  # (B, T, embed_dim)
        return self.output_linear(side_by_side)  # (B, T, embed_dim)
