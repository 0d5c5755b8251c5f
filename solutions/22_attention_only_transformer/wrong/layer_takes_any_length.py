"""The layer takes more tokens than context_length: raise a ValueError."""


class CausalSelfAttention:
    def attention_weights(self, x: torch.Tensor) -> torch.Tensor:
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h) with h = d_model / H
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        scores = queries @ keys.mT / keys.shape[-1] ** 0.5  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)  # (B, H, T, T)
        return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (B, H, T, T), rows sum to 1
