"""forward multiplies x by layer.weight as it lies, (d_out, d_in): call the layer, W_query(x)."""


class SelfAttention_v2:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = x @ self.W_query.weight  # (..., T, d_out)
        keys = x @ self.W_key.weight  # (..., T, d_out)
        values = x @ self.W_value.weight  # (..., T, d_out)
        scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (..., T, T), rows sum to 1
        return weights @ values  # (..., T, T) @ (..., T, d_out) -> (..., T, d_out)
