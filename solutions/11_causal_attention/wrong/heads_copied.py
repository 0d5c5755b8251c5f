"""The heads are copies of one, with equal weights, and would learn the same. Draw each head’s weights anew."""

import copy


class MultiHeadAttentionWrapper:
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        head = CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)
        self.heads = nn.ModuleList(copy.deepcopy(head) for _ in range(num_heads))
