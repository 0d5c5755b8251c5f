"""The table has a row more than there are tokens: indices run from 0 to vocab_size - 1."""


class TokenEmbedding:
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size + 1, d)  # weight: (vocab_size, d)
