"""The root is taken of score over d_k, NaN for a negative score: only d_k stands under the root."""


class SelfAttention_v1:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = x @ self.W_query  # (T, d_out)
        keys = x @ self.W_key  # (T, d_out)
        values = x @ self.W_value  # (T, d_out)
        scores = queries @ keys.T  # (T, T)
        weights = torch.softmax((scores / keys.shape[-1]) ** 0.5, dim=-1)
        return weights @ values  # (T, T) @ (T, d_out) -> (T, d_out)
