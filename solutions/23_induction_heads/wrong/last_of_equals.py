"""Of equal heads the last is given: take the first."""


def find_induction_head(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> tuple[int, int]:
    scores = induction_score(all_attention_weights(model, token_ids), token_ids.shape[1] // 2)  # (num_layers, B, H)
    best = (
        scores[:, 0].numel() - 1 - int(scores.mean(dim=1).flatten().flip(0).argmax())
    )  # counts through all heads of all layers
    return divmod(best, scores.shape[-1])
