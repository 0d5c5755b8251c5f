"""MultiHeadSelfAttention has an output_linear and never uses it: it must mix what the heads found."""


class MultiHeadSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side_by_side = torch.cat([head(x) for head in self.heads], dim=-1)  # (B, T, embed_dim)
        return side_by_side  # (B, T, embed_dim)
