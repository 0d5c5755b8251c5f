"""MultiHeadSelfAttention adds the heads’ outputs up: they belong side by side, the first head’s first."""


class MultiHeadSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side_by_side = sum(head(x) for head in self.heads)  # (B, T, embed_dim)
        return self.output_linear(side_by_side)  # (B, T, embed_dim)
