"""The softmax runs over the queries, dim -2: each query shares out 1 among the keys, the last dimension."""


class SelfAttention_v2:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.W_query(x)  # (..., T, d_out)
        keys = self.W_key(x)  # (..., T, d_out)
        values = self.W_value(x)  # (..., T, d_out)
        scores = queries @ keys.transpose(-2, -1)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-2)
        return weights @ values  # (..., T, T) @ (..., T, d_out) -> (..., T, d_out)
