"""The mask of CausalHead has embed_dim rows and columns: it has one for each token, x.shape[1]."""


class CausalHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = self.key(x)  # (B, T, head_size)
        queries = self.query(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = keys @ queries.mT  # (B, T, T), row i belongs to key i
        future = torch.ones(x.shape[2], x.shape[2], dtype=torch.bool, device=x.device).triu(1)
        weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (B, T, T), rows sum to 1
        return self.out(weights @ values)  # (B, T, head_size) -> (B, T, embed_dim)
