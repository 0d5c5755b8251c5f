"""The outputs of the heads are added up. They belong side by side: num_heads · d_out numbers for each token."""


class MultiHeadAttentionWrapper:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sum(head(x) for head in self.heads)  # (B, T, d_out)
