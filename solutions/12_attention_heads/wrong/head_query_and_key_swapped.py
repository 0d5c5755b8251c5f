"""In AttentionHead the rows of the scores belong to the keys: queries come first in the product."""


class AttentionHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.query(x)  # (B, T, head_size)
        keys = self.key(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = keys @ queries.mT  # (B, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, T, T), rows sum to 1
        return weights @ values  # (B, T, T) @ (B, T, head_size) -> (B, T, head_size)
