"""CausalHead masks after the softmax, and its rows no longer sum to 1: mask the scores before it."""


class CausalHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = self.key(x)  # (B, T, head_size)
        queries = self.query(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = keys @ queries.mT  # (B, T, T), row i belongs to key i
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)  # (T, T)
        weights = torch.softmax(scores, dim=-1).masked_fill(future, 0.0)  # (B, T, T), rows sum to 1
        return self.out(weights @ values)  # (B, T, head_size) -> (B, T, embed_dim)
