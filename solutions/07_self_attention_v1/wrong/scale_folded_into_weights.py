"""W_query is changed in place by every call: the next call then gives another answer, so leave the parameters alone in forward."""


class SelfAttention_v1:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.W_query.data /= self.W_key.shape[-1] ** 0.5
        queries = x @ self.W_query  # (T, d_out)
        keys = x @ self.W_key  # (T, d_out)
        values = x @ self.W_value  # (T, d_out)
        scores = queries @ keys.T  # (T, T)
        weights = torch.softmax(scores, dim=-1)  # (T, T), rows sum to 1
        return weights @ values  # (T, T) @ (T, d_out) -> (T, d_out)
