"""generate cuts the text itself to its last context_length tokens: only the model is fed these, the text keeps all."""


def generate(model: AttentionOnlyTransformer, token_ids: torch.Tensor, max_new_tokens: int) -> torch.Tensor:
    with torch.no_grad():
        for _ in range(max_new_tokens):
            token_ids = token_ids[:, -model.context_length :]  # (B, at most context_length)
            logits = model(token_ids)  # (B, at most context_length, V)
            new = logits[:, -1].argmax(dim=-1, keepdim=True)  # (B, V) -> (B, 1)
            token_ids = torch.cat([token_ids, new], dim=1)  # (B, one more)
    return token_ids
