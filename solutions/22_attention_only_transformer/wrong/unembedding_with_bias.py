"""The unembedding has a bias: no layer of this model has one."""


class AttentionOnlyTransformer:
    def __init__(self, vocab_size: int, d_model: int, context_length: int, num_layers: int, num_heads: int):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        layers = [CausalSelfAttention(d_model, num_heads, context_length) for _ in range(num_layers)]
        self.layers = nn.ModuleList(layers)
        self.unembedding = nn.Linear(d_model, vocab_size)
