"""The weights are divided by √d_k after the softmax: scale the scores before it, so that each row sums to 1."""


class SelfAttention_v2:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.W_query(x)  # (..., T, d_out)
        keys = self.W_key(x)  # (..., T, d_out)
        values = self.W_value(x)  # (..., T, d_out)
        scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        weights = torch.softmax(scores, dim=-1) / keys.shape[-1] ** 0.5  # (..., T, T), rows sum to 1
        return weights @ values  # (..., T, T) @ (..., T, d_out) -> (..., T, d_out)
