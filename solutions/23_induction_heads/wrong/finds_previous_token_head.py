"""The previous-token score is used: the induction head has the highest induction score."""


def find_induction_head(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> tuple[int, int]:
    scores = previous_token_score(all_attention_weights(model, token_ids))  # (num_layers, B, H)
    best = int(scores.mean(dim=1).argmax())  # counts through all heads of all layers
    return divmod(best, scores.shape[-1])
