"""The sizes of the table are swapped: torch.nn.Embedding takes the number of tokens first, then d."""


class TokenEmbedding:
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(d, vocab_size)  # weight: (vocab_size, d)
