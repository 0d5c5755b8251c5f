"""topk does not promise which of several equal logits it takes: the first of them is asked for."""


def generate(model: AttentionOnlyTransformer, token_ids: torch.Tensor, max_new_tokens: int) -> torch.Tensor:
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(token_ids[:, -model.context_length :])  # (B, at most context_length, V)
            new = logits[:, -1].topk(1).indices  # (B, V) -> (B, 1)
            token_ids = torch.cat([token_ids, new], dim=1)  # (B, one more)
    return token_ids
