"""The token ids are set to 0 after use, in the very tensor of the caller: never change an argument."""


class TokenEmbedding:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        embedded = self.embedding(token_ids)  # (..., d)
        token_ids.zero_()
        return embedded
