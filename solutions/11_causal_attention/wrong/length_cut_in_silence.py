"""Tokens beyond context_length are cut off in silence. The caller must learn of it: raise a ValueError."""


class CausalAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x[:, : self.future.shape[0]]  # (B, T, d_in)
        tokens = x.shape[1]
        queries = self.W_query(x)  # (B, T, d_out)
        keys = self.W_key(x)  # (B, T, d_out)
        values = self.W_value(x)  # (B, T, d_out)
        scores = queries @ keys.mT  # (B, T, T)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -torch.inf)  # (B, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, T, T)
        weights = self.dropout(weights)  # (B, T, T)
        return weights @ values  # (B, T, T) @ (B, T, d_out) -> (B, T, d_out)
