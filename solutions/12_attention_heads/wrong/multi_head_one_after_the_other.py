"""Each head of MultiHeadSelfAttention reads the output of the one before it: every head reads x."""


class MultiHeadSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outputs = [self.heads[0](x)]
        for head in self.heads[1:]:
            outputs.append(head(outputs[-1].repeat(1, 1, len(self.heads))))
        side_by_side = torch.cat(outputs, dim=-1)  # (B, T, embed_dim)
        return self.output_linear(side_by_side)  # (B, T, embed_dim)
