"""CausalHead turns the weights before they meet the values: row i belongs to token i, so it is weights @ values."""


class CausalHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = self.key(x)  # (B, T, head_size)
        queries = self.query(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = keys @ queries.mT  # (B, T, T), row i belongs to key i
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)  # (T, T)
        weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (B, T, T), rows sum to 1
        return self.out(weights.mT @ values)  # (B, T, head_size) -> (B, T, embed_dim)
