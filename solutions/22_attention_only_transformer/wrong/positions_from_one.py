"""The positions count from 1: the first token stands at position 0, and the last one at context_length − 1."""


class AttentionOnlyTransformer:
    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        tokens = token_ids.shape[1]
        if tokens > self.context_length:
            raise ValueError(f"{tokens} tokens do not fit into a context of {self.context_length}")
        positions = torch.arange(1, tokens + 1, device=token_ids.device)  # (T,)
        x = self.token_embedding(token_ids) + self.position_embedding(positions)  # (B, T, d_model)
        for layer in self.layers:
            x = x + layer(x)  # (B, T, d_model)
        return self.unembedding(x)  # (B, T, vocab_size)
