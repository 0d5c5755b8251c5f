"""AttentionHead rounds the root of head_size to a whole number: keep the root as it is, int and math.isqrt cut off what follows the point."""


class AttentionHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.query(x)  # (B, T, head_size)
        keys = self.key(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = queries @ keys.mT  # (B, T, T), row i belongs to query i
        weights = torch.softmax(scores / int(keys.shape[-1] ** 0.5), dim=-1)  # (B, T, T), rows sum to 1
        return weights @ values  # (B, T, T) @ (B, T, head_size) -> (B, T, head_size)
