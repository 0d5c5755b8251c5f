"""The mean over all tokens is returned: each token keeps its own vector."""


class TokenEmbedding:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        return self.embedding(token_ids).mean(dim=-2)  # (..., d)
