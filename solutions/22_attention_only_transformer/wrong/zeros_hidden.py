"""Every score that is 0 is hidden, also of the tokens before: make the mask from the places, not from the values."""


class CausalSelfAttention:
    def attention_weights(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.shape[1]
        if tokens > self.context_length:
            raise ValueError(f"{tokens} tokens do not fit into a context of {self.context_length}")
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h) with h = d_model / H
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        scores = queries @ keys.mT / keys.shape[-1] ** 0.5  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        future = scores.tril() == 0  # (B, H, T, T)
        return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (B, H, T, T), rows sum to 1
