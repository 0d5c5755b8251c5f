"""A number of heads that does not divide embed_dim ends in an AssertionError: raise a ValueError instead."""


class MultiHeadSelfAttention:
    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        assert embed_dim % num_heads == 0, f"{num_heads} heads cannot share {embed_dim} dimensions evenly"
        head_size = embed_dim // num_heads
        self.heads = nn.ModuleList(AttentionHead(embed_dim, head_size) for _ in range(num_heads))
        self.output_linear = nn.Linear(embed_dim, embed_dim)
