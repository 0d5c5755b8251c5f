"""W_query is changed in place by every call: the next call then gives another answer, so leave the parameters alone in forward."""


class SelfAttention_v2:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.W_query.weight.data /= self.W_key.weight.shape[0] ** 0.5
        queries = self.W_query(x)  # (..., T, d_out)
        keys = self.W_key(x)  # (..., T, d_out)
        values = self.W_value(x)  # (..., T, d_out)
        scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        weights = torch.softmax(scores, dim=-1)  # (..., T, T), rows sum to 1
        return weights @ values  # (..., T, T) @ (..., T, d_out) -> (..., T, d_out)
