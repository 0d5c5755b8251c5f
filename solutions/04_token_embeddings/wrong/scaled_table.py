"""The embedded tokens are multiplied by √d: return the rows of the table as they are."""


class TokenEmbedding:
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, d)  # weight: (vocab_size, d)
        self.factor = d**0.5

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        return self.embedding(token_ids) * self.factor  # (..., d)
