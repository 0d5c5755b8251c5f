"""The table is made anew in each call: make the torch.nn.Embedding once, in __init__, and keep it as an attribute."""


class TokenEmbedding:
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.sizes = vocab_size, d

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        return torch.nn.Embedding(*self.sizes)(token_ids)  # (..., d)
