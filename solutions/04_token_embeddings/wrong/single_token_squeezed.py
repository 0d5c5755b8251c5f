"""Dimensions of size 1 are squeezed away, so a single token or a batch of one loses its shape."""


class TokenEmbedding:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        return self.embedding(token_ids).squeeze()  # (..., d)
