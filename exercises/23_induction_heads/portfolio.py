"""What `make portfolio` shows of this exercise: the stripe of an induction head, and what each head is worth.

It runs behind your own file in the sandbox, on the model that `make train EX=23` trained.
"""

import torch

KIND = "heads"
TITLE = "An induction head, found and taken out"
SAYS = (
    "A model of attention alone, trained on random tokens that repeat, and measured on tokens it has never seen. The "
    "picture shows where this head looks, a row for each token."
)
RESULT = (
    "Head {layer}.{head} of the model that I trained completes the pattern (score {score:.2f}). "
    "The loss is {loss:.2f}, and {without:.2f} without that head."
)
MODEL, SIZES, HEADS = "AttentionOnlyTransformer", (32, 64, 64), 4  # vocabulary, size, context
PERIOD, BATCH, SEED = 16, 64, 23


def look_at_heads(model) -> dict:
    """The weights of the head that completes the pattern, every head's score, and the loss without each head."""
    with torch.no_grad():
        ids = repeated_tokens(BATCH, PERIOD, SIZES[0], torch.Generator().manual_seed(SEED))  # noqa: F821
        weights = all_attention_weights(model, ids)  # noqa: F821
        scores = induction_score(weights, PERIOD).mean(dim=1)  # noqa: F821
        layer, head = find_induction_head(model, ids)  # noqa: F821
        without = torch.zeros_like(scores)
        for number in range(scores.numel()):
            place = divmod(number, scores.shape[1])
            losses = next_token_loss(without_head(model, ids, *place), ids)  # noqa: F821
            without[place] = losses[:, PERIOD:].mean()
        loss = float(second_half_loss(model, ids))  # noqa: F821
    found = {"layer": int(layer), "head": int(head), "weights": weights[layer, 0, head]}
    return {"scores": scores, "without": without, "loss": loss, **found}
