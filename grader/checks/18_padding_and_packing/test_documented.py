"""The numbers that the lesson prints: three tokens with exponentials 1, 3 and 4, alone, padded and packed."""

import torch

from grader.authors import expect, task

THREE = torch.tensor([1.0, 3.0, 4.0]).log()


@task(1)
def test_documented_mask(learner, documented):
    """Lengths 3 and 1 in four places: your masks are the lesson's, for both sides."""
    lengths = torch.tensor([3, 1])
    right, left = learner.key_padding_mask(lengths, 4), learner.key_padding_mask(lengths, 4, "left")
    expect(right, torch.tensor([[1, 1, 1, 0], [1, 0, 0, 0]]).bool())
    expect(right, documented["right"])
    expect(left, torch.tensor([[0, 1, 1, 1], [0, 0, 0, 1]]).bool())
    expect(left, documented["left"])


@task(2)
def test_documented_softmax(learner, documented):
    """The lesson's three rows of weights: two places seen, all three, and none."""
    scores = torch.stack([THREE, THREE, THREE])
    scores[0, 2] = torch.nan
    mask = torch.tensor([[1, 1, 0], [1, 1, 1], [0, 0, 0]]).bool()
    got = learner.masked_softmax(scores, mask)
    expect(got, torch.tensor([[0.25, 0.75, 0.0], [0.125, 0.375, 0.5], [0.0, 0.0, 0.0]]))
    expect(got, documented["weights"])


@task(3)
def test_documented_additive_mask(learner, documented):
    """The lesson's mask as numbers: 0 where True, the lowest number of float32 and of float16 where False."""
    mask = torch.tensor([True, True, False])
    for dtype in (torch.float32, torch.float16):
        got = learner.additive_mask(mask, dtype)
        expect(got, torch.tensor([0.0, 0.0, torch.finfo(dtype).min], dtype=dtype))
    expect(got, documented["additive"])


@task(4)
def test_documented_padded_attention(learner, documented):
    """The lesson's batch: the sentence of two tokens gets 5 in spite of its padding, the sentence of three 3.5."""
    queries = torch.ones(2, 1, 3, 1)
    keys = THREE.expand(2, 3).reshape(2, 1, 3, 1).clone()
    values = torch.tensor([8.0, 4.0, 2.0]).expand(2, 3).reshape(2, 1, 3, 1).clone()
    keys[0, 0, 2], values[0, 0, 2] = 0.0, 0.0
    got = learner.padded_attention(queries, keys, values, torch.tensor([2, 3]))
    expect(got, torch.tensor([[5.0, 5.0, 0.0], [3.5, 3.5, 3.5]]).reshape(2, 1, 3, 1))
    expect(got[:, 0, :, 0], documented["padded"])
    got = learner.padded_attention(queries, keys, values, torch.tensor([2, 3]), "right", True)
    expect(got, torch.tensor([[8.0, 5.0, 0.0], [8.0, 5.0, 3.5]]).reshape(2, 1, 3, 1))
    expect(got[:, 0, :, 0], documented["causal"])


@task(5)
def test_documented_pack(learner, documented):
    """The lesson's two rows become five numbers and the starts 0, 2 and 5, and go back into a batch."""
    x = torch.tensor([[1.0, 2.0, torch.nan], [3.0, 4.0, 5.0]])
    got = learner.pack(x, torch.tensor([2, 3]))
    expect(got, (torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), torch.tensor([0, 2, 5], dtype=torch.int32)))
    expect(got[0], documented["packed"])
    expect(got[1], documented["starts"])
    got = learner.unpack(torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), torch.tensor([0, 2, 5], dtype=torch.int32), 4)
    expect(got, torch.tensor([[1.0, 2.0, 0.0, 0.0], [3.0, 4.0, 5.0, 0.0]]))
    expect(got, documented["unpacked"])


@task(6)
def test_documented_packed_attention(learner, documented):
    """The lesson's five packed tokens get what they got in the batch, without any padding."""
    queries = torch.ones(5, 1, 1)
    keys = torch.cat([THREE[:2], THREE]).reshape(5, 1, 1)
    values = torch.tensor([8.0, 4.0, 8.0, 4.0, 2.0]).reshape(5, 1, 1)
    got = learner.packed_attention(queries, keys, values, torch.tensor([0, 2, 5], dtype=torch.int32))
    expect(got, torch.tensor([5.0, 5.0, 3.5, 3.5, 3.5]).reshape(5, 1, 1))
    expect(got[:, 0, 0], documented["packed_context"])
