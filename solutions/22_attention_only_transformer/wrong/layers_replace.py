"""A layer's output replaces the vectors: add it to what was there."""


class AttentionOnlyTransformer:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        tokens = token_ids.shape[1]
        if tokens > self.context_length:
            raise ValueError(f"{tokens} tokens do not fit into a context of {self.context_length}")
        positions = torch.arange(tokens, device=token_ids.device)  # (T,)
        x = self.token_embedding(token_ids) + self.position_embedding(positions)  # (B, T, d_model)
        for layer in self.layers:
            x = layer(x)  # (B, T, d_model)
        return self.unembedding(x)  # (B, T, vocab_size)
