"""The result is made for six tokens: read the number of tokens from x."""


class SelfAttention_v1:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = x @ self.W_query  # (T, d_out)
        keys = x @ self.W_key  # (T, d_out)
        values = x @ self.W_value  # (T, d_out)
        scores = queries @ keys.T  # (T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T, T), rows sum to 1
        context = weights @ values  # (T, d_out)
        return context.reshape(6, -1)  # (6, d_out)
