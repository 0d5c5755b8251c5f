"""The embedded tokens are cut off from the table (detach, .data or no_grad), so the table can never be trained."""


class TokenEmbedding:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        return self.embedding(token_ids).detach()  # (..., d)
