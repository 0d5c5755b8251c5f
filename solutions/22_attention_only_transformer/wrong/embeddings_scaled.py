"""The token embeddings are multiplied by √d_model, as in the first Transformer: here they are taken as they are."""


class AttentionOnlyTransformer:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        tokens = token_ids.shape[1]
        if tokens > self.context_length:
            raise ValueError(f"{tokens} tokens do not fit into a context of {self.context_length}")
        x = self.token_embedding(token_ids) * self.unembedding.in_features**0.5
        positions = torch.arange(tokens, device=token_ids.device)  # (T,)
        x = x + self.position_embedding(positions)  # (B, T, d_model)
        for layer in self.layers:
            x = x + layer(x)  # (B, T, d_model)
        return self.unembedding(x)  # (B, T, vocab_size)
