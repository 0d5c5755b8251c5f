"""The numbers that the lesson prints, and the numbers that a seed gives to the parameters."""

import torch

from grader.authors import expect, expect_drawn, expect_shape, has_parameters, manual_seed, task
from grader.sentence import batch

MODEL = (6, 8, 6, 2, 2)  # vocab_size, d_model, context_length, num_layers, num_heads
TOKEN_IDS = [[0, 4, 5, 2, 1, 3]]
LINES = (
    "Ann sings and the cat sleeps",
    "Ann sings and the cat sleeps",
    "Ann sings and the cat purrs",
    "Tom sings and the dog howls",
)  # whose ten words, sorted, are the vocabulary


def attention_drawn(d_model: int) -> dict[str, torch.Tensor]:
    """The parameters of a CausalSelfAttention, drawn from the present state of torch's generator."""
    layers = {name: torch.nn.Linear(d_model, d_model, bias=False) for name in ("W_query", "W_key", "W_value")}
    layers["out_proj"] = torch.nn.Linear(d_model, d_model, bias=False)
    return {f"{name}.weight": layer.weight.detach() for name, layer in layers.items()}


def model_drawn(vocab_size: int, d_model: int, context_length: int, num_layers: int) -> dict[str, torch.Tensor]:
    """The parameters of an AttentionOnlyTransformer, drawn from the present state of torch's generator."""
    drawn = {"token_embedding.weight": torch.nn.Embedding(vocab_size, d_model).weight.detach()}
    drawn["position_embedding.weight"] = torch.nn.Embedding(context_length, d_model).weight.detach()
    for number in range(num_layers):
        drawn |= {f"layers.{number}.{name}": value for name, value in attention_drawn(d_model).items()}
    return drawn | {"unembedding.weight": torch.nn.Linear(d_model, vocab_size, bias=False).weight.detach()}


def has_drawn(layer, expected) -> None:
    """The layer has these parameters, with these numbers."""
    has_parameters(layer, {name: value.shape for name, value in expected.items()})
    expect_drawn(layer, expected)


@task(1)
def test_documented_attention(learner, documented):
    """Seeded with 123, your layer gives the lesson's weights and output. Other seeds are tried too."""
    sentence = torch.nn.functional.pad(batch(), (0, 1), value=1.0)  # (2, 6, 4)
    layer = learner.CausalSelfAttention(4, 2, 6, seed=123)
    weights, output = layer.attention_weights(sentence), layer(sentence)
    manual_seed(123)
    has_drawn(layer, attention_drawn(4))
    expect_shape(weights, (2, 2, 6, 6), "what attention_weights gives")
    expect(weights[0, 1], documented["attention_weights"], "the weights of the second head")
    expect(weights[1, 1], documented["attention_weights"], "the weights of the second head in the second sequence")
    expect_shape(output, (2, 6, 4))
    expect(output[0], documented["attention"], "the output of the first sequence")
    expect(output[1], documented["attention"], "the output of the second sequence")
    layer = learner.CausalSelfAttention(6, 3, 5, seed=22)
    manual_seed(22)
    has_drawn(layer, attention_drawn(6))


@task(2)
def test_documented_model(learner, documented):
    """Seeded with 123, your model gives the lesson's logits. Other seeds are tried too."""
    model = learner.AttentionOnlyTransformer(*MODEL, seed=123)
    logits = model(torch.tensor(TOKEN_IDS))
    manual_seed(123)
    has_drawn(model, model_drawn(*MODEL[:4]))
    expect_shape(logits, (1, 6, 6))
    expect(logits[0], documented["logits"])
    model = learner.AttentionOnlyTransformer(5, 6, 3, 1, 2, seed=22)
    manual_seed(22)
    has_drawn(model, model_drawn(5, 6, 3, 1))


@task(3)
def test_documented_weights(learner, documented):
    """all_attention_weights matches the lesson's numbers for both layers of its model."""
    model = learner.AttentionOnlyTransformer(*MODEL, seed=123)
    weights = learner.all_attention_weights(model, torch.tensor(TOKEN_IDS))
    expect_shape(weights, (2, 1, 2, 6, 6))
    expect(weights[0, 0, 0], documented["first_layer"], "the weights of layer 0, head 0")
    expect(weights[1, 0, 0], documented["second_layer"], "the weights of layer 1, head 0")


@task(4)
def test_documented_loss(learner, documented):
    """Your losses match the lesson's: those worked out by hand, and those of its model."""
    logits = torch.tensor([[[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.2, 0.2, 0.6]]]).log()
    expect(learner.next_token_loss(logits, torch.tensor([[2, 0, 1]])), documented["loss_by_hand"])
    ids = torch.tensor(TOKEN_IDS)
    model = learner.AttentionOnlyTransformer(*MODEL, seed=123)
    expect(learner.next_token_loss(model(ids), ids), documented["loss"], "the loss of the lesson's model")


@task(5)
def test_documented_generation(learner, documented):
    """The lesson's model continues the text as the lesson shows, even past its context."""
    model = learner.AttentionOnlyTransformer(*MODEL, seed=123)
    expect(learner.generate(model, torch.tensor([[0, 4, 5]]), 7), documented["generated"])


@task(5, after=("documented_model", "documented_loss", "documented_generation"))
def test_documented_training(learner, documented):
    """Trained on the lesson's four lines, your model has the lesson's losses, and writes what the lesson shows."""
    words = sorted(set(" ".join(LINES).split()))
    token_ids = torch.tensor([[words.index(word) for word in line.split()] for line in LINES])
    untrained, model = (
        learner.AttentionOnlyTransformer(len(words), 8, 6, 1, 2, seed=123).to(dtype=torch.float64) for _ in range(2)
    )
    names = torch.tensor([[0], [1]])
    expect(learner.generate(untrained, names, 5), documented["written_before"], "what the untrained model writes")
    losses = []
    for steps in (25, 25, 25, 1):  # each a short request
        losses.append(float(model.descend(token_ids, loss=learner.next_token_loss, steps=steps, rate=0.5)[0]))
    expect(losses, documented["training"], "the losses before the training and after 25, 50 and 75 steps")
    expect(learner.generate(model, names, 5), documented["written_after"], "what the trained model writes")
