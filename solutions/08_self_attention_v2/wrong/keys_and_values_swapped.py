"""Keys and values have changed places: the keys come from the layer of the values, and the values from that of the keys."""


class SelfAttention_v2:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.W_query(x)  # (..., T, d_out)
        keys = self.W_value(x)  # (..., T, d_out)
        values = self.W_key(x)  # (..., T, d_out)
        scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (..., T, T), rows sum to 1
        return weights @ values  # (..., T, T) @ (..., T, d_out) -> (..., T, d_out)
