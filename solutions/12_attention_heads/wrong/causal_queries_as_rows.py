"""The rows of CausalHead's scores belong to the queries: here the keys come first in the product."""


class CausalHead:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = self.key(x)  # (B, T, head_size)
        queries = self.query(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = queries @ keys.mT  # (B, T, T)
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)  # (T, T)
        weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (B, T, T), rows sum to 1
        return self.out(weights @ values)  # (B, T, head_size) -> (B, T, embed_dim)
