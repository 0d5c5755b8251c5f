"""A number of heads that does not divide embed_dim is accepted: it must raise a ValueError."""


class MultiHeadSelfAttention:
    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        head_size = embed_dim // num_heads
        self.heads = nn.ModuleList(AttentionHead(embed_dim, head_size) for _ in range(num_heads))
        self.output_linear = nn.Linear(head_size * num_heads, embed_dim)
