"""Exercise 33's solution against transformers: layer by layer, and its gradients; and the lesson's own model."""

import importlib.util
import json
import math
import random
import sys

import pytest
import torch
from figure_case import Case
from truths import load

from grader.catalog import paths

LESSON = paths.lesson("33_llama").parent
exercise = load("33")

CONFIGS = {
    "plain": {},
    "grouped": {"num_key_value_heads": 2, "num_attention_heads": 6, "head_dim": 10},
    "one group": {"num_key_value_heads": 1, "rms_norm_eps": 1e-3},
    "tied": {"tie_word_embeddings": True, "num_key_value_heads": 2},
    "another base": {"rope_theta": 500_000.0, "hidden_size": 36, "head_dim": 4},
}
WORDS = torch.tensor([0.5, 0.25, 0.125, 0.125]).log()


def transformers():
    """The library, or the test is skipped. It takes seconds to import, so it is imported where it is needed."""
    return pytest.importorskip("transformers", reason="transformers is not installed (extra dev)")


def theirs(**changes):
    """A small random model of the library, and its config as a file has it."""
    library = transformers()
    sizes = {"vocab_size": 50, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 3}
    sizes |= {"num_attention_heads": 4, "max_position_embeddings": 512, "bos_token_id": 0, "eos_token_id": None}
    config = library.LlamaConfig(**(sizes | changes))
    torch.manual_seed(26)
    model = library.LlamaForCausalLM(config).eval()
    for name, parameter in model.named_parameters():  # norms that are not all ones, scores that differ
        torch.nn.init.uniform_(parameter, 0.5, 1.5) if "norm" in name else torch.nn.init.normal_(parameter, std=0.2)
    return model


def read(folder):
    """The model of a folder, in the solution's classes."""
    model = exercise.Llama(json.loads((folder / "config.json").read_text()))
    model.load_state_dict(exercise.read_safetensors((folder / "model.safetensors").read_bytes()))  # strictly
    return model


@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
def test_a_checkpoint_of_the_library_gives_its_logits_block_by_block_and_its_gradients(changes, tmp_path):
    model = theirs(**changes)
    model.save_pretrained(tmp_path)
    mine = read(tmp_path)
    ids = torch.randint(50, (2, 9))
    with torch.no_grad():
        expected = model(ids, output_hidden_states=True, use_cache=True)
        x, caches = mine.model["embed_tokens"](ids), expected.past_key_values
        for number, block in enumerate(mine.model["layers"]):
            torch.testing.assert_close(x, expected.hidden_states[number], atol=1e-5, rtol=0, msg=f"into {number}")
            x, (keys, values) = block(x)
            torch.testing.assert_close(keys, caches.layers[number].keys, atol=1e-5, rtol=0, msg=f"keys of {number}")
            torch.testing.assert_close(values, caches.layers[number].values, atol=1e-5, rtol=0)
        torch.testing.assert_close(mine.model["norm"](x), expected.hidden_states[-1], atol=1e-5, rtol=0)
        torch.testing.assert_close(mine(ids)[0], expected.logits, atol=1e-5, rtol=0)
    cotangent, names = torch.randn_like(expected.logits), dict(model.named_parameters())
    assert dict(mine.named_parameters()).keys() == names.keys()
    (model(ids).logits * cotangent).sum().backward()
    (mine(ids)[0] * cotangent).sum().backward()
    for name, parameter in mine.named_parameters():
        torch.testing.assert_close(parameter.grad, names[name].grad, atol=1e-3, rtol=1e-3, msg=name)


# The model beside the lesson


def in_the_lesson(name):
    """A module that lies beside the lesson."""
    sys.path.insert(0, str(LESSON))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(LESSON))


def test_the_entropy_of_the_stories_is_exact():
    stories, seed = in_the_lesson("stories"), random.Random(1)
    entropy, length = stories.exact_entropy()
    some = [stories.random_story(seed) for _ in range(1000)]
    surprise = torch.tensor([-sum(story.log_probabilities) for story in some])
    lengths = torch.tensor([len(story.tokens) - 1.0 for story in some])
    assert abs(surprise.mean() - entropy) < 4 * surprise.std() / math.sqrt(1000)
    assert abs(lengths.mean() - length) < 4 * lengths.std() / math.sqrt(1000)


def test_the_model_is_close_to_the_best_possible():
    train = in_the_lesson("train")
    loss, truth = train.losses(read(LESSON), 20)
    assert 0 <= loss - truth < 0.1
    assert sum(path.stat().st_size for path in LESSON.glob("*.safetensors")) < 2_000_000


def test_the_model_is_what_the_libraries_read():
    library, stories = transformers(), in_the_lesson("stories")
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed (extra dev)")
    tokenizer = tokenizers.Tokenizer.from_file(str(LESSON / "tokenizer.json"))
    text = "".join(stories.random_story(random.Random(3)).tokens[1:])
    ids = tokenizer.encode(text).ids
    assert ids[0] == 0 and tokenizer.decode(ids) == text
    model = library.LlamaForCausalLM.from_pretrained(LESSON, dtype=torch.float32)
    row = torch.tensor([ids])
    with torch.no_grad():
        torch.testing.assert_close(read(LESSON)(row)[0], model(row).logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "options", [(1.0, None, 1.0), (0.7, 5, 1.0), (1.3, None, 0.8), (0.9, 7, 0.6), (2.0, 100, 0.95)]
)
def test_the_distribution_is_that_of_the_library(options):
    transformers()
    from transformers.generation import logits_process as process

    temperature, top_k, top_p = options
    logits, scores = (3 * torch.randn(6, 30)).requires_grad_(), None
    scores = process.TemperatureLogitsWarper(temperature)(None, logits)
    if top_k is not None:
        scores = process.TopKLogitsWarper(min(top_k, 30))(None, scores)
    if top_p < 1:
        scores = process.TopPLogitsWarper(top_p)(None, scores)
    torch.testing.assert_close(exercise.next_distribution(logits, *options), torch.softmax(scores, dim=-1))


def chosen(temperature=1.0, top_k=3, top_p=0.8):
    """What the figure shows for these settings, from the solution, whose numbers its checks compute row by row."""
    return {"probabilities": exercise.next_distribution(WORDS, temperature, top_k, top_p)}


def other_order(top_k=3, top_p=0.8):
    """The same at temperature 1 with top_p before top_k."""
    first = exercise.next_distribution(WORDS, 1.0, None, top_p)
    return {"probabilities": exercise.next_distribution(first.log(), 1.0, top_k)}


CASES = [
    Case([{"Temperature": 2}], lambda: chosen(2.0), "3 of 4 words"),
    Case([{"top_k": 2, "top_p": 1}], lambda: chosen(1.0, 2, 1.0), "2 of 4 words"),
    Case([{"top_p before top_k": True}], other_order, "3 of 4 words"),
]
