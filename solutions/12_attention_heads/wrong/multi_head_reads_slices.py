"""Each head of MultiHeadSelfAttention reads a part of x: every head reads all of x and gives embed_dim // num_heads."""


class MultiHeadSelfAttention:
    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {embed_dim} dimensions evenly")
        head_size = embed_dim // num_heads
        self.heads = nn.ModuleList(AttentionHead(head_size, head_size) for _ in range(num_heads))
        self.output_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = x.chunk(len(self.heads), dim=-1)
        side_by_side = torch.cat([head(part) for head, part in zip(self.heads, parts)], dim=-1)  # (B, T, embed_dim)
        return self.output_linear(side_by_side)  # (B, T, embed_dim)
