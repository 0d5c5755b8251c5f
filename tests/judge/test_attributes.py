"""Attributes of a learner's plain object are read without parentheses, and a kept object shows what changed since."""

import pytest
import torch

from grader.catalog.exercise import Limits
from grader.judge.compare import Mismatch
from grader.judge.proxy import Learner
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote

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

def asks_for_gradients(x):
    return x.requires_grad
"""


@pytest.fixture(params=["local", "remote"])
def learner(request):
    if request.param == "local":
        yield Learner(Local(SOURCE, "shelf.py", "shelf"))
        return
    remote = Remote(request.getfixturevalue("fork_server"), Submission(SOURCE, "shelf.py"), "shelf", Limits())
    yield Learner(remote)
    remote.close()


def test_attributes_and_properties_are_read(learner):
    shelf = learner.Shelf(2)
    shelf.put(3)
    assert shelf.count.read() == 1 and shelf.books.read() == [3]
    assert torch.equal(shelf.room.read(), torch.tensor([3.0, 0.0]))
    call = learner.calls[-1]
    assert (call.text, call.want, call.function) == ("Shelf(2).room", "attribute", "Shelf.room")


def test_a_method_in_the_place_of_an_attribute_is_named(learner):
    with pytest.raises(Mismatch, match="size is a method, but it is read without parentheses"):
        learner.Shelf(2).size.read()
    with pytest.raises(Mismatch, match="size is a method"):
        learner.Shelf(2).size.read(kept=True)


def test_a_missing_attribute_is_not_an_error_inside_a_property(learner):
    with pytest.raises(LearnerError) as missing:
        learner.Shelf(2).colour.read()
    assert missing.value.kind == "missing" and missing.value.facts["missing"] == "Shelf.colour"
    with pytest.raises(LearnerError) as raised:
        learner.Shelf(2).misspelt.read()
    assert raised.value.facts["type"] == "AttributeError"


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


def test_a_tensor_that_requires_a_gradient_arrives_so(learner):
    assert learner.asks_for_gradients(torch.ones(2, requires_grad=True)) is True
    assert learner.asks_for_gradients(torch.ones(2)) is False
