"""The window of tokens is a view of those given, and is written into: make a new tensor of the last tokens instead."""


def generate(model: AttentionOnlyTransformer, token_ids: torch.Tensor, max_new_tokens: int) -> torch.Tensor:
    with torch.no_grad():
        window = token_ids[:, -model.context_length :]
        for _ in range(max_new_tokens):
            logits = model(window)
            new = logits[:, -1].argmax(dim=-1, keepdim=True)  # (B, V) -> (B, 1)
            token_ids = torch.cat([token_ids, new], dim=1)  # (B, one more)
            if window.shape[1] < model.context_length:
                window = torch.cat([window, new], dim=1)
            else:
                window.copy_(torch.cat([window[:, 1:], new], dim=1))
    return token_ids
