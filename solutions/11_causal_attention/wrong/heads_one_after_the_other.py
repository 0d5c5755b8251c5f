"""Each head reads the output of the one before it: every head reads x."""


class MultiHeadAttentionWrapper:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outputs = []
        for head in self.heads:
            x = head(x)
            outputs.append(x)
        return torch.cat(outputs, dim=-1)  # (B, T, num_heads * d_out)
