"""make write: the learner's own model continues a text, without and with caches; checkpoints that others have saved."""

import json
import re

import pytest
import torch
from thorough import nightly

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import WrongUse
from grader.desk import writing
from grader.records import submission

EXERCISE = next(exercise for exercise in catalog.exercises() if exercise.writes)
SOLUTION, BESIDE = paths.solution(EXERCISE.folder), paths.lesson(EXERCISE.folder).parent
WISH = writing.Wish("Once upon a time", 12, 0.0, 0)


@pytest.fixture
def written(capsys):
    """`written(folder)`: both texts, and what was printed."""

    def write(folder, wish=WISH, path=SOLUTION) -> tuple[list[writing.Written], str]:
        texts = writing.write(EXERCISE, submission.read(path), folder, wish)
        return texts, capsys.readouterr().out

    return write


def test_the_model_beside_the_lesson_writes_the_same_without_and_with_caches(written):
    (without, cached), printed = written(BESIDE)
    assert without.text == cached.text and without.tokens == cached.tokens == 12
    assert printed.count(cached.text) == 2 and cached.text.startswith("Once upon a time there was a ")
    assert "times as fast with caches" in printed and "differ" not in printed


def test_a_story_ends_where_its_model_ends_it(written):
    (without, cached), printed = written(BESIDE, writing.Wish("Once upon a time", 200, 0.7, 1))
    assert without.text == cached.text and cached.text.endswith(".") and cached.tokens < 200
    assert not re.search(r"<\|", printed)


def test_a_model_that_needs_more_is_refused(tmp_path, written):
    for change, said in (
        ({"hidden_act": "gelu"}, "the activation gelu"),
        ({"attention_bias": True}, "attention_bias"),
        ({"rope_scaling": {"rope_type": "llama3"}}, "rotations of the kind llama3"),
        ({"rope_parameters": {"rope_type": "yarn", "rope_theta": 1.0}}, "rotations of the kind yarn"),
    ):
        config = json.loads((BESIDE / "config.json").read_text()) | change
        (tmp_path / "config.json").write_text(json.dumps(config))
        with pytest.raises(WrongUse, match=said):
            written(tmp_path)


def test_what_is_missing_is_named(tmp_path, written):
    with pytest.raises(WrongUse, match=r"config\.json cannot be read: No such file .* The folder of a model holds"):
        written(tmp_path)
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((BESIDE / name).read_bytes())
    with pytest.raises(WrongUse, match=r"holds no model\*\.safetensors"):
        written(tmp_path)


def test_a_word_that_the_model_does_not_know_is_named(written):
    with pytest.raises(WrongUse, match="“dragon” is none of them"):
        written(BESIDE, writing.Wish("Once upon a time there was a dragon", 3, 0.0, 0))


def test_an_error_of_the_learners_code_is_told_with_its_line(tmp_path, written):
    with pytest.raises(WrongUse, match=r"llama\.py:\d+: NotImplementedError"):
        written(BESIDE, path=paths.stub(EXERCISE.folder))
    file = tmp_path / "mine.py"
    file.write_text("x = 1\n")
    with pytest.raises(WrongUse, match=f"has no {EXERCISE.writes}"):
        written(BESIDE, path=file)


def test_the_command_asks_for_a_finished_file(said, desk):
    done = said("write")
    assert done.returncode == 2 and "not finished yet" in done.stderr


@nightly
def test_a_checkpoint_of_the_library_is_continued_as_the_library_does(tmp_path, written):
    """In the shape of SmolLM2-135M, but smaller: random weights in several files, fifty tokens, greedy.

    The model beside the lesson is one file.
    """
    transformers = pytest.importorskip("transformers", reason="transformers is not installed (extra dev)")
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed (extra tokenizers)")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=280, initial_alphabet=alphabet)
    tokenizer.train_from_iterator([(BESIDE / "stories.py").read_text("utf-8")], trainer)
    config = transformers.LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=2,
        num_attention_heads=9,
        num_key_value_heads=3,
        rope_theta=100_000.0,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
        eos_token_id=None,
    )
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config).eval()
    for name, parameter in model.named_parameters():
        if "norm" not in name:
            torch.nn.init.normal_(parameter, std=0.1)  # so that no two logits are nearly equal
    ids = torch.tensor([tokenizer.encode(WISH.prompt).ids])
    expected = model.generate(ids, attention_mask=ids > -1, max_new_tokens=50, do_sample=False, pad_token_id=0)
    model.save_pretrained(tmp_path, max_shard_size="300KB")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    (without, cached), _ = written(tmp_path, writing.Wish(WISH.prompt, 50, 0.0, 0))
    assert cached.text == without.text == tokenizer.decode(expected[0].tolist())
