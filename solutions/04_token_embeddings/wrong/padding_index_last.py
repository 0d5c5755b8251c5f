"""padding_idx makes the last word a filler: its row is zero and never trained. Leave padding_idx out."""


class TokenEmbedding:
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, d, padding_idx=vocab_size - 1)  # weight: (vocab_size, d)
