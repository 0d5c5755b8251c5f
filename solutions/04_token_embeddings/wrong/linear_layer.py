"""The table is an nn.Linear, which multiplies: torch.nn.Embedding looks the row of each token id up."""


class TokenEmbedding:
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.embedding = torch.nn.Linear(vocab_size, d)
