"""A tensor made in float32 takes the results up: make it with the dtype of the inputs."""


class SelfAttention_v1:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = x @ self.W_query  # (T, d_out)
        keys = x @ self.W_key  # (T, d_out)
        values = x @ self.W_value  # (T, d_out)
        scores = queries @ keys.T  # (T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T, T), rows sum to 1
        context = torch.zeros(len(x), values.shape[-1], device=x.device)  # (T, d_out)
        return context + (weights @ values).float()  # (T, d_out)
