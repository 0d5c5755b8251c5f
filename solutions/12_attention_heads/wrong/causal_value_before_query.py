"""CausalHead draws its value before its query: create key, query, value, out in this order."""


class CausalHead:
    def __init__(self, embed_dim: int, head_size: int):
        super().__init__()
        self.key = nn.Linear(embed_dim, head_size)
        self.value = nn.Linear(embed_dim, head_size)
        self.query = nn.Linear(embed_dim, head_size)
        self.out = nn.Linear(head_size, embed_dim)
