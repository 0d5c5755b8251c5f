"""CausalHead cuts its mask from one for 64 tokens: there may be more, so make it for the tokens at hand, x.shape[1]."""


class CausalHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = self.key(x)  # (B, T, head_size)
        queries = self.query(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = keys @ queries.mT  # (B, T, T), row i belongs to key i
        future = torch.ones(64, 64, dtype=torch.bool, device=x.device).triu(1)  # (64, 64)
        future = future[: x.shape[1], : x.shape[1]]  # (T, T)
        weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (B, T, T), rows sum to 1
        return self.out(weights @ values)  # (B, T, head_size) -> (B, T, embed_dim)
