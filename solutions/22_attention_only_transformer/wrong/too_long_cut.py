"""The model cuts what is too long: forward raises a ValueError, generate chooses what is fed."""


class AttentionOnlyTransformer:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        token_ids = token_ids[:, -self.context_length :]
        tokens = token_ids.shape[1]
        positions = torch.arange(tokens, device=token_ids.device)  # (T,)
        x = self.token_embedding(token_ids) + self.position_embedding(positions)  # (B, T, d_model)
        for layer in self.layers:
            x = x + layer(x)  # (B, T, d_model)
        return self.unembedding(x)  # (B, T, vocab_size)
