"""AttentionHead takes exp of the scores as they are: exp(10,000) is inf. Take away each row's maximum first, or use torch.softmax."""


class AttentionHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.query(x)  # (B, T, head_size)
        keys = self.key(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = queries @ keys.mT  # (B, T, T), row i belongs to query i
        powers = torch.exp(scores / keys.shape[-1] ** 0.5)  # (B, T, T)
        weights = powers / powers.sum(dim=-1, keepdim=True)  # (B, T, T), rows sum to 1
        return weights @ values  # (B, T, T) @ (B, T, head_size) -> (B, T, head_size)
