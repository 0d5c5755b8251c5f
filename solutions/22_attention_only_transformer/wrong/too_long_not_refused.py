"""Too many tokens end in an IndexError or in none: the model raises a ValueError."""


class AttentionOnlyTransformer:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        tokens = token_ids.shape[1]
        positions = torch.arange(tokens, device=token_ids.device)  # (T,)
        x = self.token_embedding(token_ids) + self.position_embedding(positions)  # (B, T, d_model)
        for layer in self.layers:
            x = x + layer(x)  # (B, T, d_model)
        return self.unembedding(x)  # (B, T, vocab_size)
