"""MultiHeadSelfAttention has one head too few: make num_heads of them."""


class MultiHeadSelfAttention:
    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {embed_dim} dimensions evenly")
        head_size = embed_dim // num_heads
        self.heads = nn.ModuleList(AttentionHead(embed_dim, head_size) for _ in range(num_heads - 1))
        self.output_linear = nn.Linear(embed_dim, embed_dim)
