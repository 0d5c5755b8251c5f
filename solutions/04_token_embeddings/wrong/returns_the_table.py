"""TokenEmbedding returns the whole table: give the rows of the token ids alone."""


class TokenEmbedding:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        return self.embedding.weight  # (..., d)
