"""The layers of CausalHead lack their biases: all four have one."""


class CausalHead:
    def __init__(self, embed_dim: int, head_size: int):
        super().__init__()
        self.key = nn.Linear(embed_dim, head_size, bias=False)
        self.query = nn.Linear(embed_dim, head_size, bias=False)
        self.value = nn.Linear(embed_dim, head_size, bias=False)
        self.out = nn.Linear(head_size, embed_dim, bias=False)
