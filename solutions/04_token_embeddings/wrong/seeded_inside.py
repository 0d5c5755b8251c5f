"""The class seeds the random generator itself: every table is then the same, whatever seed its user sets."""


class TokenEmbedding:
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        torch.manual_seed(123)
        self.embedding = torch.nn.Embedding(vocab_size, d)  # weight: (vocab_size, d)
