"""The size of a head is taken from d_in: it is d_out that the heads share."""


class MultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.shape[1]
        queries = (
            self.W_query(x).view(*x.shape[:2], self.num_heads, x.shape[2] // self.num_heads).transpose(1, 2)
        )  # (B, H, T, h) with h = d_out / H
        keys = (
            self.W_key(x).view(*x.shape[:2], self.num_heads, x.shape[2] // self.num_heads).transpose(1, 2)
        )  # (B, H, T, h)
        values = (
            self.W_value(x).view(*x.shape[:2], self.num_heads, x.shape[2] // self.num_heads).transpose(1, 2)
        )  # (B, H, T, h)
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -torch.inf)  # (B, H, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, H, T, T), rows sum to 1
        weights = self.dropout(weights)  # (B, H, T, T)
        return self.out_proj(merge_heads(weights @ values))  # (B, H, T, h) -> (B, T, d_out)
