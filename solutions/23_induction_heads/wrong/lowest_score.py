"""The head with the lowest score is given: take the highest."""


def find_induction_head(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> tuple[int, int]:
    scores = induction_score(all_attention_weights(model, token_ids), token_ids.shape[1] // 2)  # (num_layers, B, H)
    best = int(scores.mean(dim=1).argmin())  # counts through all heads of all layers
    return divmod(best, scores.shape[-1])
