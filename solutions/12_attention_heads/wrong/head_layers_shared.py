"""The key of AttentionHead is the same layer as its query: make each of the three by itself."""


class AttentionHead:
    def __init__(self, embed_dim: int, head_size: int):
        super().__init__()
        self.query = nn.Linear(embed_dim, head_size, bias=False)
        self.key = self.query
        self.value = nn.Linear(embed_dim, head_size, bias=False)
