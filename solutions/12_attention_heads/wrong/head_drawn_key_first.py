"""AttentionHead draws its key before its query: create query, key, value in this order."""


class AttentionHead:
    def __init__(self, embed_dim: int, head_size: int):
        super().__init__()
        self.key = nn.Linear(embed_dim, head_size, bias=False)
        self.query = nn.Linear(embed_dim, head_size, bias=False)
        self.value = nn.Linear(embed_dim, head_size, bias=False)
