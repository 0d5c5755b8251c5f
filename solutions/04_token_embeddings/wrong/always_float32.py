"""The embedded tokens are cast to float32: keep the dtype of the table."""


class TokenEmbedding:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        return self.embedding(token_ids).float()  # (..., d)
