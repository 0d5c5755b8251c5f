"""Queries and keys are multiplied entry by entry: the scores are a matrix product, every query with every key."""


class SelfAttention_v1:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = x @ self.W_query  # (T, d_out)
        keys = x @ self.W_key  # (T, d_out)
        values = x @ self.W_value  # (T, d_out)
        scores = queries * keys
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T, T), rows sum to 1
        return weights @ values  # (T, T) @ (T, d_out) -> (T, d_out)
