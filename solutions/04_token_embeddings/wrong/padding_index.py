"""padding_idx=0 makes the first word a filler: its row is zero and never trained."""


class TokenEmbedding:
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, d, padding_idx=0)  # weight: (vocab_size, d)
