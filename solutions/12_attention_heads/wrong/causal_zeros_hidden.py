"""CausalHead hides every score that is 0 after tril, also true zeros of the past: make the mask from ones."""


class CausalHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = self.key(x)  # (B, T, head_size)
        queries = self.query(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = keys @ queries.mT  # (B, T, T), row i belongs to key i
        future = scores.tril() == 0  # (B, T, T)
        weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (B, T, T), rows sum to 1
        return self.out(weights @ values)  # (B, T, head_size) -> (B, T, embed_dim)
