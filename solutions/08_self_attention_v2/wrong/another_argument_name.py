"""forward of SelfAttention_v2 calls its argument X. The lesson calls it x: callers may use the name."""


class SelfAttention_v2:
    def forward(self, X: torch.Tensor) -> torch.Tensor:
        x = X
        queries = self.W_query(x)  # (..., T, d_out)
        keys = self.W_key(x)  # (..., T, d_out)
        values = self.W_value(x)  # (..., T, d_out)
        scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (..., T, T), rows sum to 1
        return weights @ values  # (..., T, T) @ (..., T, d_out) -> (..., T, d_out)
