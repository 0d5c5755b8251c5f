"""Keys and values of AttentionHead have changed places: the queries meet the keys, and the weights the values."""


class AttentionHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.query(x)  # (B, T, head_size)
        keys = self.value(x)  # (B, T, head_size)
        values = self.key(x)  # (B, T, head_size)
        scores = queries @ keys.mT  # (B, T, T), row i belongs to query i
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, T, T), rows sum to 1
        return weights @ values  # (B, T, T) @ (B, T, head_size) -> (B, T, head_size)
