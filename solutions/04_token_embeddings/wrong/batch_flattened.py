"""All sequences of a batch are joined into one: keep the shape of the token ids and put d after it."""


class TokenEmbedding:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        return self.embedding(token_ids.reshape(-1))  # (..., d)
