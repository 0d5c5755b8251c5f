"""The table is frozen, by requires_grad=False or by from_pretrained, which freezes it unless told not to: it must be trainable."""


class TokenEmbedding:
    def __init__(self, vocab_size: int, d: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, d)  # weight: (vocab_size, d)
        self.embedding.weight.requires_grad_(False)
