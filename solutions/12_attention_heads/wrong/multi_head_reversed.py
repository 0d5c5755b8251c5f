"""MultiHeadSelfAttention puts the last head’s output first: begin with head 0."""


class MultiHeadSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side_by_side = torch.cat([head(x) for head in reversed(self.heads)], dim=-1)  # (B, T, embed_dim)
        return self.output_linear(side_by_side)  # (B, T, embed_dim)
