"""The table is a bare nn.Parameter: it holds the right numbers, but the lesson asks for a torch.nn.Embedding."""


class TokenEmbedding:
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.embedding = torch.nn.Parameter(torch.randn(vocab_size, d))  # (vocab_size, d)

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        return self.embedding[token_ids]  # (..., d)
