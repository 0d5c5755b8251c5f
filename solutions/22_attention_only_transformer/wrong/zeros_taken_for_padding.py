"""Tokens of zeros are hidden, as padding would be: there is no padding here, each token counts."""


class CausalSelfAttention:
    def attention_weights(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.shape[1]
        if tokens > self.context_length:
            raise ValueError(f"{tokens} tokens do not fit into a context of {self.context_length}")
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h) with h = d_model / H
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        scores = queries @ keys.mT / keys.shape[-1] ** 0.5  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)  # (B, H, T, T)
        future = future | (x == 0).all(dim=-1)[:, None, None]  # (B, H, T, T)
        return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (B, H, T, T), rows sum to 1
