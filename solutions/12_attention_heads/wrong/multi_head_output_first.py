"""output_linear is created before the heads: the heads come first, then output_linear."""


class MultiHeadSelfAttention:
    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {embed_dim} dimensions evenly")
        head_size = embed_dim // num_heads
        self.output_linear = nn.Linear(embed_dim, embed_dim)
        self.heads = nn.ModuleList(AttentionHead(embed_dim, head_size) for _ in range(num_heads))
