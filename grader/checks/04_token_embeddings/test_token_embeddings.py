"""Hidden checks: fresh sentences and tables against the solution, and what must hold for any of them."""

import torch

from grader.authors import (
    Mismatch,
    agrees,
    expect,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    manual_seed,
    refuses,
    same_gradients,
    task,
)

FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "build_vocabulary": "fresh_vocabulary",
    "encode": "fresh_token_ids",
    "TokenEmbedding": "fresh_embedding",
}
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
SENTENCES = (
    "the dog, Apple zebra, the end",  # capitals first, and no two words that differ in their case alone
    "the cat and the dog, zebra Apple apple, Zebra",  # words that come again, capitals first
    "  one\ttwo,  three\n\nfour , five\r\n",  # white space of every kind
    "10,000 of them cost 1,500 each: 10 9 2 100 b a _ B",  # commas inside, numbers sorted as text
    "It's over. Isn't it? well-known, yes!",  # all else belongs to the words
    "alone",
)
TABLES = (  # vocab_size, d, shapes of the token ids
    (5, 1, ((1,), (9,))),
    (1, 4, ((3,),)),
    (7, 3, ((2, 5), (7, 7), (3, 1), (1, 1))),
)


@task(1)
def test_fresh_vocabulary(learner, reference, rng):
    """build_vocabulary is right on new sentences: words that come again, capitals, white space, commas."""
    for sentence in (*SENTENCES, ", ".join(words(rng, 9))):
        vocabulary = learner.build_vocabulary(sentence)
        expect(vocabulary, reference.build_vocabulary(sentence), "the vocabulary")
        if not all(type(index) is int for index in vocabulary.values()):
            raise Mismatch("the vocabulary has an index that is not an int")


@task(2)
def test_fresh_token_ids(learner, reference, rng):
    """encode is right on new sentences, with whatever vocabulary it is given."""
    for sentence in (*SENTENCES, ", ".join(words(rng, 9))):
        agrees(learner.encode, reference.encode, sentence, larger_vocabulary(reference, rng, sentence))


@task(2)
def test_unknown_word(learner, reference):
    """A word that is not in the vocabulary raises KeyError, and the error names the word."""
    vocabulary = {"eat": 0, "first": 1, "Life": 2, "never": 3}
    for sentence, word in (
        ("eat toast first", "toast"),
        ("salad", "salad"),
        ("first eat life", "life"),  # Life is known, life is not
        ("never eats", "eats"),  # eat is known, eats is not
    ):
        text = refuses(KeyError, learner.encode, sentence, dict(vocabulary))
        if word not in text:
            raise Mismatch(
                "the KeyError does not name the unknown word", f"the word is {word!r}, the error says {text!r}"
            )


@task(3)
def test_fresh_embedding(learner, reference, rng):
    """Tables of other sizes give each token its own row, with and without a batch."""
    for vocab_size, d, shapes in TABLES:
        layer = learner.TokenEmbedding(vocab_size, d)
        table = only_table(layer, (vocab_size, d))
        for shape in shapes:
            ids = rng.integers(0, vocab_size, *shape)
            expect(layer(ids), table[ids])
    ids = rng.integers(0, vocab_size, 4, 2).T  # not contiguous
    expect(layer(ids), table[ids])


@task(3, after="fresh_embedding")
def test_any_seed(learner, rng):
    """Every seed gives the table that torch.nn.Embedding draws after it."""
    for vocab_size, d in ((3, 4), (11, 5)):
        seed = rng.integer(1_000, 1_000_000)
        layer = learner.TokenEmbedding(vocab_size, d, seed=seed)
        got = layer(torch.arange(vocab_size))
        manual_seed(seed)
        expect(got, torch.nn.Embedding(vocab_size, d).weight.detach(), "the table, row by row, right after the seed,")


@task(3, after="fresh_embedding")
def test_one_embedding(learner):
    """TokenEmbedding holds one torch.nn.Embedding of vocab_size rows, trainable, and nothing else to train."""
    layer = learner.TokenEmbedding(7, 5)
    only_table(layer, (7, 5))
    facts = layer.describe()
    kinds = [kind for kind in facts["modules"].values() if kind != "Module"]
    if kinds.count("Embedding") != 1:
        raise Mismatch(f"TokenEmbedding holds {', '.join(kinds) or 'no layer'}; expected one torch.nn.Embedding"[:300])
    if facts["frozen"]:
        raise Mismatch(f"the parameter {facts['frozen'][0]} is not trainable (requires_grad=False)")


@task(3, after="fresh_embedding")
def test_gradients(learner, reference):
    """Gradients reach the table: each row gets the sum over the places where its token is."""
    ids = torch.tensor([[0, 3, 3, 1], [3, 0, 5, 0]])
    layer = learner.TokenEmbedding(6, 4)
    only_table(layer, (6, 4))
    same_gradients(OneTable(layer), OneTable(reference.TokenEmbedding(6, 4)), ids)


@task(3, each={name: FUNCTIONS[name] for name in ("encode", "TokenEmbedding")})
def test_dtype_and_device(learner, reference, rng):
    """Token ids are int64; the embedded tokens have the dtype and the device of the table."""
    ids = learner.encode("b a c", {"a": 2, "b": 0, "c": 1})
    expect(ids, torch.tensor([0, 2, 1]), "the tensor of token ids")
    layer = learner.TokenEmbedding(6, 4)
    same_table = {"embedding.weight": only_table(layer, (6, 4))}
    ids = rng.integers(0, 6, 2, 5)
    keeps_dtype(layer, reference.TokenEmbedding(6, 4, state=same_table), ids)
    keeps_device(layer, ids)


@task(3, each=FUNCTIONS)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and sentence, vocabulary and token ids are not modified."""
    keeps_inputs(learner.build_vocabulary, SENTENCES[2])
    keeps_inputs(learner.encode, "b a b", {"a": 4, "b": 2, "c": 1})
    keeps_inputs(learner.TokenEmbedding(6, 4), rng.integers(1, 6, 2, 5))


@task(3, each=FUNCTIONS)
def test_argument_names(learner, rng):
    """Arguments have the lesson's names: sentence, vocabulary, vocab_size and d, and token_ids of the layer."""
    learner.build_vocabulary(sentence=SENTENCES[0])
    learner.encode(sentence="b a", vocabulary={"a": 0, "b": 1})
    learner.TokenEmbedding(vocab_size=6, d=4)(token_ids=rng.integers(0, 6, 3))


class OneTable:
    """A layer whose only parameter is called the table, whatever name its author gave it."""

    def __init__(self, layer):
        self.layer = layer

    def gradients(self, *args) -> dict[str, torch.Tensor]:
        gradients = self.layer.gradients(*args)
        return {"table" if name.startswith("parameter") else name: grad for name, grad in gradients.items()}


def words(rng, count: int) -> list[str]:
    """Words of random letters; some of them come twice."""
    drawn = [
        "".join(LETTERS[letter] for letter in rng.integers(0, len(LETTERS), rng.integer(1, 6)).tolist())
        for _ in range(count)
    ]
    return drawn + drawn[: count // 3]


def larger_vocabulary(reference, rng, sentence: str) -> dict[str, int]:
    """The sentence's words and a few more, in no order at all, with indices in another one."""
    known = [*reference.build_vocabulary(sentence), "Aardvark,", "ant", "zoo"]
    known = [known[place] for place in rng.permutation(len(known)).tolist()]
    return dict(zip(known, rng.permutation(3 * len(known)).tolist(), strict=False))


def only_table(layer, shape: tuple[int, int]) -> torch.Tensor:
    """The only parameter, which has this shape: the learner may call it as they like."""
    parameters = layer.parameters()
    if len(parameters) != 1:
        held = f"{len(parameters)} parameters" if parameters else "no parameters (a part in a plain list is not seen)"
        raise Mismatch(f"TokenEmbedding holds {held}; expected one: the weight of its torch.nn.Embedding")
    (table,) = parameters.values()
    expect(tuple(table.shape), shape, "the table")
    return table
