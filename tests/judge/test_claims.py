"""What the sentence of a known mistake claims about the learner's file: judge/claims.py."""

import pytest

from grader.judge import claims
from grader.judge.wrong_versions import WrongVersion


def version(sentence: str, *changes: str) -> WrongVersion:
    return WrongVersion("wrong", "wrong", sentence, str, changes=changes)


FILLED = version("Fills with −10,000, by masked_fill.", "-    x.masked_fill(m, -inf)", "+    x.masked_fill(m, -1e4)")


@pytest.mark.parametrize(
    ("source", "is_false"),
    [
        ("x = x.masked_fill(m, -10_000.0)", False),
        ("x[m] = -1e4", False),  # masked_fill is in the solution, too, and so no claim
        ("x = x.masked_fill(m, 10000)", True),
        ("x = x.masked_fill(m, -inf)  # not -10000", True),
    ],
)
def test_a_number_that_a_mistake_adds_must_be_in_the_file(source, is_false):
    assert claims.contradicted(FILLED, source) is is_false
    assert claims.confirmed(FILLED, source) is not is_false


def test_of_two_mistakes_each_sentence_must_hold():
    other = version("torch.zeros(d) is float32.", "+    total = torch.zeros(d)")
    both = WrongVersion("both", "both", "", str, parts=(FILLED, other))
    assert claims.contradicted(both, "x[m] = -1e4")
    assert not claims.contradicted(both, "x[m] = -1e4\ny = torch.zeros(3)")


def test_the_mistake_is_likelier_whose_diff_is_in_the_file():
    mine, other = (version("", "-    return x.sum()", f"+    return x.{name}()") for name in ("mean", "median"))
    source = "def f(x):\n    return x.mean()\n"
    assert claims.support(mine, source) > claims.support(other, source)
