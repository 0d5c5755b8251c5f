"""The result is cut off from the layer (detach, .data or no_grad): no gradient reaches the three matrices, nor the inputs."""


class SelfAttention_v1:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = x @ self.W_query  # (T, d_out)
        keys = x @ self.W_key  # (T, d_out)
        values = x @ self.W_value  # (T, d_out)
        scores = queries @ keys.T  # (T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T, T), rows sum to 1
        return (weights @ values).detach()  # (T, T) @ (T, d_out) -> (T, d_out)
