"""A learner's objects: attributes, their length, tensors that several calls share, memory that does not grow."""

import pytest
import torch
from raised import raised

from grader.authors import held_tensor
from grader.judge.compare import Mismatch
from grader.judge.measuring import TooMuchMemory, steady_memory
from grader.sandbox.call_results import LearnerError

SOURCE = """
import torch

class Shelf:
    def __init__(self, size):
        self.books, self.room = [], torch.zeros(size)
    @property
    def count(self):
        return len(self.books)
    @property
    def misspelt(self):
        return self.boks
    def size(self):
        return len(self.room)
    def put(self, book):
        self.books.append(book)
        self.room[len(self.books) - 1] = book
    def put_aside(self, book):
        self.books, self.room = [*self.books, book], self.room.clone()
        self.room[len(self.books) - 1] = book
    def all(self):
        return self.books
    def both(self):
        return self.books, self.room

class Pile:
    def __init__(self, most):
        self.most, self.parts = most, []
    def __len__(self):
        return sum(len(part) for part in self.parts)
    def put(self, part):
        self.parts = [*self.parts, part][-self.most:]

class Endless(Pile):
    def put(self, part):
        self.parts.append(part)

class Countless:
    pass

class Half:
    def __len__(self):
        return 0.5

def weighted(pile, weight):
    return torch.cat(pile.parts) * weight
"""


@pytest.fixture
def learner(either):
    return either(SOURCE)


def test_attributes_and_properties_are_read(learner):
    shelf = learner.Shelf(2)
    shelf.put(3)
    assert shelf.count.read() == 1 and shelf.books.read() == [3]
    assert torch.equal(shelf.room.read(), torch.tensor([3.0, 0.0]))
    call = learner.calls[-1]
    assert (call.text, call.want, call.function) == ("Shelf(2).room", "attribute", "Shelf.room")


def test_what_is_no_attribute_is_named(learner):
    for kept in (False, True):
        with pytest.raises(Mismatch, match="size is a method, but it is read without parentheses"):
            learner.Shelf(2).size.read(kept=kept)
    missing, other = (raised(LearnerError, getattr(learner.Shelf(2), name).read) for name in ("colour", "misspelt"))
    assert missing.kind == "missing" and missing.facts["missing"] == "Shelf.colour"
    assert other.facts["type"] == "AttributeError"  # inside a property


def test_a_kept_object_is_read_as_it_is_now(learner):
    shelf = learner.Shelf(2)
    room, books = shelf.room.read(kept=True), shelf.all(kept=True)
    shelf.put(3)
    assert torch.equal(room.read(), torch.tensor([3.0, 0.0])) and books.read() == [3]
    assert [call.text for call in learner.calls[-2:]] == ["Shelf(2).room", "Shelf(2).all()"]
    shelf.put_aside(4)
    assert torch.equal(room.read(), torch.tensor([3.0, 0.0])) and books.read() == [3]
    books.append(5)
    assert books.read() == [3, 5] and shelf.books.read() == [3, 4]
    room = learner.Shelf(2).both(kept=True)[1]
    assert torch.equal(room.add_(1), room.read()) and learner.calls[-1].text == "Shelf(2).both()[1]"


@pytest.mark.parametrize("needs_gradients", [False, True])
def test_a_held_tensor_is_the_same_in_each_call(learner, needs_gradients):
    pile, part = learner.Pile(3), held_tensor(learner, torch.ones(2).requires_grad_(needs_gradients))
    pile.put(part)
    pile.put(part)
    if needs_gradients:  # of several calls
        learner.weighted(pile, torch.tensor([1.0, 2.0, 3.0, 4.0]), kept=True).sum(kept=True).backward()
        assert torch.equal(part.grad.read(), torch.tensor([4.0, 6.0]))
    else:
        part.mul_(3)
        assert torch.equal(part.read(), torch.full((2,), 3.0))
        assert torch.equal(learner.weighted(pile, 2.0), torch.full((4,), 6.0))


def test_the_length_of_an_object(learner):
    pile = learner.Pile(3)
    assert len(pile) == 0 and pile
    pile.put(torch.ones(2))
    assert len(pile) == 2 and learner.calls[-1].text == "len(Pile(3))"
    missing, other = (raised(LearnerError, one.__len__) for one in (learner.Countless(), learner.Half()))
    assert missing.kind == "missing" and missing.facts["missing"] == "Countless.__len__"
    assert other.facts["type"] == "TypeError"


def test_a_call_is_made_many_times_with_new_copies(learner):
    pile = learner.Pile(5)
    pile.put(torch.ones(2), times=4)
    pile.parts.read(kept=True).pop(0, kept=True).zero_()
    assert torch.equal(learner.weighted(pile, 1.0), torch.ones(6))


def test_what_calls_leave_behind_is_measured(remote):
    learner = remote(SOURCE)

    def put(make) -> None:
        with steady_memory(learner, "40 puts", mebibytes=7) as begin:
            pile, part = make(3), torch.ones(1 << 16)  # 256 KiB
            pile.put(part, times=5)
            begin()
            pile.put(part, times=40)

    put(learner.Pile)
    assert learner.notes[-1].startswith("40 puts grew the process by")
    with pytest.raises(TooMuchMemory, match=r"40 puts grew the process by 1\d MiB; 7 MiB are allowed"):
        put(learner.Endless)
