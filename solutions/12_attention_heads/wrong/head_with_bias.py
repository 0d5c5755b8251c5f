"""The layers of AttentionHead have a bias: nn.Linear makes one unless it is told not to."""


class AttentionHead:
    def __init__(self, embed_dim: int, head_size: int):
        super().__init__()
        self.query = nn.Linear(embed_dim, head_size)
        self.key = nn.Linear(embed_dim, head_size)
        self.value = nn.Linear(embed_dim, head_size)
