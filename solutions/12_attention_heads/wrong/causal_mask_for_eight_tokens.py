"""CausalHead always makes its mask for 8 tokens: make it for the tokens at hand, or cut it to them."""


class CausalHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = self.key(x)  # (B, T, head_size)
        queries = self.query(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = keys @ queries.mT  # (B, T, T), row i belongs to key i
        future = torch.ones(8, 8, dtype=torch.bool, device=x.device).triu(1)  # (T, T)
        weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (B, T, T), rows sum to 1
        return self.out(weights @ values)  # (B, T, head_size) -> (B, T, embed_dim)
