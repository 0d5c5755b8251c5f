"""The numbers that the lesson prints: small ones by hand, and those measured on its trained model."""

import torch

from grader.authors import expect, expect_shape, task, trained_state

SIZES = (32, 64, 64, 2, 4)  # vocab_size, d_model, context_length, num_layers, num_heads
PERIODS = (8, 16, 32)
BATCH, SEED = 8, 23


def tokens(period: int) -> torch.Tensor:
    """The lesson's tokens of a period."""
    half = torch.randint(0, SIZES[0], (BATCH, period), generator=torch.Generator().manual_seed(SEED))
    return torch.cat([half, half], dim=1)


def trained(learner):
    """The lesson's model, in the learner's class."""
    return learner.AttentionOnlyTransformer(*SIZES, state=trained_state("15_induction_heads"))


@task(1)
def test_documented_tokens(learner, documented):
    """Seeded with 23, your two sequences of period 4 match the lesson's."""
    got = learner.repeated_tokens(2, 4, 32, torch.Generator().manual_seed(SEED))
    expect(got, documented["tokens"])


@task(2)
def test_documented_stripe(learner, documented):
    """Both scores of the lesson's small matrix match those worked out by hand."""
    weights = torch.tensor(
        [[1.0, 0.0, 0.0, 0.0], [0.75, 0.25, 0.0, 0.0], [0.25, 0.5, 0.25, 0.0], [0.125, 0.125, 0.25, 0.5]]
    )
    expect(learner.previous_token_score(weights), documented["previous_by_hand"])
    expect(learner.induction_score(weights, 2), documented["induction_by_hand"])


@task(2)
def test_documented_scores(learner, documented):
    """The scores of all heads of the trained model match the lesson's at period 16."""
    model = trained(learner)
    weights = learner.all_attention_weights(model, tokens(16))
    expect_shape(weights, (2, 8, 4, 32, 32))
    score = learner.previous_token_score(weights)
    expect_shape(score, (2, 8, 4))
    expect(score.mean(dim=1), documented["previous"], "the previous-token score of every head")
    score = learner.induction_score(weights, 16)
    expect_shape(score, (2, 8, 4))
    expect(score.mean(dim=1), documented["induction"], "the induction score of every head")


@task(3)
def test_documented_loss(learner, documented):
    """The trained model continues the lesson's pattern, and its loss on the second half matches."""
    model = trained(learner)
    expect(learner.generate(model, torch.tensor([[5, 17, 3, 29, 11, 5]]), 9), documented["continued"])
    losses = [learner.second_half_loss(model, tokens(period)) for period in PERIODS]
    for loss in losses:
        expect_shape(loss, ())
    expect(torch.stack(losses), documented["losses"], "the loss at the periods 8, 16, 32")


@task(4)
def test_documented_removals(learner, documented):
    """Your losses without each head of the trained model match the lesson's at period 16."""
    model, ids, losses = trained(learner), tokens(16), []
    for layer in range(2):
        for head in range(4):
            logits = learner.without_head(model, ids, layer, head)
            expect_shape(logits, (BATCH, 32, 32))
            losses.append(torch.nn.functional.cross_entropy(logits[:, 16:-1].flatten(0, 1), ids[:, 17:].flatten()))
    expect(torch.stack(losses).reshape(2, 4), documented["removals"], "the loss without each head")


@task(5)
def test_documented_head(learner, documented):
    """In the trained model you find the same head at every period of the lesson."""
    model = trained(learner)
    for period in (4, *PERIODS):
        found = learner.find_induction_head(model, tokens(period))
        expect(found, documented["head"], f"the induction head at period {period}")
