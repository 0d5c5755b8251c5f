"""AttentionHead gives torch.sqrt an int, head_size, and it takes tensors alone: write ** 0.5 or math.sqrt."""


class AttentionHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.query(x)  # (B, T, head_size)
        keys = self.key(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = queries @ keys.mT  # (B, T, T), row i belongs to query i
        weights = torch.softmax(scores / torch.sqrt(keys.shape[-1]), dim=-1)  # (B, T, T), rows sum to 1
        return weights @ values  # (B, T, T) @ (B, T, head_size) -> (B, T, head_size)
