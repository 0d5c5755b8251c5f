"""The layer out of CausalHead takes embed_dim numbers: what it reads are the head_size numbers of the context."""


class CausalHead:
    def __init__(self, embed_dim: int, head_size: int):
        super().__init__()
        self.key = nn.Linear(embed_dim, head_size)
        self.query = nn.Linear(embed_dim, head_size)
        self.value = nn.Linear(embed_dim, head_size)
        self.out = nn.Linear(embed_dim, embed_dim)
