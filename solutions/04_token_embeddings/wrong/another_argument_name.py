"""forward of TokenEmbedding calls its argument x. The lesson calls it token_ids: callers may use the name."""


class TokenEmbedding:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        token_ids = x
        return self.embedding(token_ids)  # (..., d)
