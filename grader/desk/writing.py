"""Lets the learner's own model write: it reads a checkpoint in Hugging Face's format and continues a text.

The learner's file runs in this process, as `python file.py` would run it: it is their own, and nothing is graded. All
that is asked of it are the class that exercise.toml names under `writes`, `read_safetensors` and `generate`.
"""

import contextlib
import json
import re
import time
import traceback
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from grader.catalog import Exercise, errors, paths
from grader.catalog.errors import WrongUse
from grader.records.submission import Submission

WEIGHTS = "model*.safetensors"  # one file, or several for a large model
HELD_BACK = "�"  # what a decoder gives for half a character: the next token completes it
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # tokens of a strange model must not command the terminal
SMALL = 10_000_000  # weights of a model that is faster in one thread
Encode = Callable[[str], list[int]]
Decode = Callable[[list[int]], str]
WAYS = WITHOUT, CACHED = "without caches", "with caches"
DIFFER = "The two texts differ. If two tokens are nearly as likely, rounding decides; else look at the caches."


@dataclass(frozen=True)
class Wish:
    """What to write. tokens: how many at most. seed: of the generator from which tokens are drawn."""

    prompt: str
    tokens: int = 200
    temperature: float = 0.7
    seed: int = 0


@dataclass(frozen=True)
class Written:
    """A text, and what it cost. tokens: without the prompt."""

    text: str
    tokens: int
    seconds: float


def write(exercise: Exercise, submission: Submission, folder: Path, wish: Wish) -> list[Written]:
    """Write the same text twice, without and with caches, and print both as they grow.

    Raises WrongUse where the folder holds no such model, or where the learner's code fails.
    """
    config, (encode, decode) = config_of(folder), tokenizer_of(folder)
    ids = encode(wish.prompt)
    if not ids:
        raise WrongUse('This model needs a beginning: make write PROMPT="…"')
    code = _Code(exercise, submission)
    with code.telling():
        model = _load(code, config, folder)
    if sum(parameter.numel() for parameter in model.parameters()) < SMALL:
        torch.set_num_threads(1)  # several would only wait for each other
    ends, texts = config.get("eos_token_id"), []
    last = {*ends} if isinstance(ends, list) else {ends}  # the tokens that end a text
    for way in WAYS:
        print(f"\n{way}\n{CONTROL.sub('', decode(ids))}", end="", flush=True)
        with code.telling():
            texts.append(_one(code, Stream(model, way == CACHED), ids, wish, last, decode))
        print()
    print()
    speeds = [one.tokens / max(one.seconds, 1e-9) for one in texts]
    for way, one, speed in zip(WAYS, texts, speeds):
        print(f"{way:14}  {one.tokens} tokens in {one.seconds:.2f} s, {speed:.0f} a second")
    print(f"\n{DIFFER}" if texts[0].text != texts[1].text else "")
    print(f"Your attention has written this, {speeds[1] / speeds[0]:.1f} times as fast with caches.")
    return texts


def config_of(folder: Path) -> dict[str, Any]:
    """The config of a checkpoint. Raises WrongUse where there is none, or one that needs more than the lesson has."""
    config = _json(folder / "config.json")
    scaling = config.get("rope_scaling") or config.get("rope_parameters") or {}
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    wants = [name for name in ("attention_bias", "mlp_bias") if config.get(name)]
    wants += [f"rotations of the kind {kind}"] * (kind != "default")
    wants += [f"the activation {config['hidden_act']}"] * (config.get("hidden_act", "silu") != "silu")
    wants += ["quantized weights"] * ("quantization_config" in config)
    if wants:
        raise WrongUse(f"{folder} needs what the lesson leaves out: {', '.join(wants)}.")
    return config


def tokenizer_of(folder: Path) -> tuple[Encode, Decode]:
    """The tokenizer of a checkpoint: from text to token ids, and back. Raises WrongUse where its package is missing."""
    path = folder / "tokenizer.json"
    data = _json(path)
    if data.get("model", {}).get("type") == "WordLevel" and data.get("pre_tokenizer", {}).get("type") == "Split":
        return _words(data)
    try:
        import tokenizers

        library = tokenizers.Tokenizer.from_file(str(path))
        return lambda text: library.encode(text).ids, library.decode
    except ImportError:
        raise errors.missing_extra("The tokenizer of this model needs the tokenizers package", "tokenizers") from None
    except Exception as error:  # the library has no class of its own for what it cannot read
        raise WrongUse(f"{path} cannot be read: {error}") from None


def _words(data: dict[str, Any]) -> tuple[Encode, Decode]:
    """A tokenizer of whole words, as a tokenizer.json with the parts WordLevel and Split describes it."""
    ids: dict[str, int] = data["model"]["vocab"]
    texts = {number: text for text, number in ids.items()}
    special = {token["id"] for token in data.get("added_tokens", ()) if token.get("special")}
    single = (data.get("post_processor") or {}).get("single", ())
    begin = [ids[part["SpecialToken"]["id"]] for part in single if "SpecialToken" in part]

    def encode(text: str) -> list[int]:
        """The ids of a text, after what begins every text. Raises WrongUse for a word that the model does not know."""
        words = re.findall(data["pre_tokenizer"]["pattern"]["Regex"], text)
        unknown = [word.strip() for word in words if word not in ids]
        if unknown:
            known = sorted(word.strip() for word in ids if word[1:2].isalpha())
            raise WrongUse(
                f"This model knows {len(ids)} words and marks, and “{unknown[0]}” is none of them in that place.\n"
                f"Some that it knows: {', '.join(known[:: max(1, len(known) // 20)])}"
            )
        return [*begin, *(ids[word] for word in words)]

    # Without those that only begin or end a text.
    return encode, lambda numbers: "".join(texts[number] for number in numbers if number not in special)


class _Ended(Exception):
    """The model has written a token that ends its text."""


class Stream(torch.nn.Module):
    """The learner's model, as generate calls it; every token that comes back to be fed is handed to `show`.

    cached: whether the caches are used. If not, the whole text is fed again at every step.
    """

    show: Callable[[int], None]

    def __init__(self, model: torch.nn.Module, cached: bool):
        super().__init__()
        self.model, self.cached = model, cached
        self.text: torch.Tensor | None = None

    def forward(self, token_ids: torch.Tensor, caches: Any = None) -> Any:
        """As the learner's model."""
        if self.text is None:
            self.text = token_ids
        else:
            self.show(int(token_ids[0, -1]))
            self.text = torch.cat([self.text, token_ids[:, -1:]], dim=1)
        return self.model(token_ids, caches) if self.cached else self.model(self.text)


def _one(code: "_Code", stream: Stream, ids: list[int], wish: Wish, last: set[int | None], decode: Decode) -> Written:
    """Write one text. last: the tokens that end it."""
    new: list[int] = []
    printed = decode(ids)

    def show(token: int) -> None:
        nonlocal printed
        if token in last:
            raise _Ended
        new.append(token)
        text = decode([*ids, *new])
        if not text.endswith(HELD_BACK):
            print(CONTROL.sub("", text[len(printed) :]), end="", flush=True)
            printed = text

    stream.show, began = show, time.perf_counter()
    generator = torch.Generator().manual_seed(wish.seed)
    with contextlib.suppress(_Ended):
        result = code["generate"](
            stream, torch.tensor([ids]), wish.tokens, temperature=wish.temperature, generator=generator
        )
        show(int(result[0, -1]))  # the last token is never fed
    return Written(decode([*ids, *new]), len(new), time.perf_counter() - began)


def _load(code: "_Code", config: dict[str, Any], folder: Path) -> torch.nn.Module:
    """The learner's model with the weights of a folder."""
    model = code[code.exercise.writes](config)
    state: dict[str, torch.Tensor] = {}
    files = sorted(folder.glob(WEIGHTS))
    if not files:
        raise WrongUse(f"{folder} holds no {WEIGHTS}.")
    for path in files:
        state |= code["read_safetensors"](path.read_bytes())
    if config.get("tie_word_embeddings"):
        state.pop("lm_head.weight", None)  # some files hold the embedding under both names
    state = {name: value for name, value in state.items() if not name.endswith("rotary_emb.inv_freq")}  # in old files
    model.load_state_dict(state)
    return model.eval()


def _json(path: Path) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except OSError as error:
        parts = "config.json, tokenizer.json and its weights in *.safetensors"
        raise WrongUse(f"{path} cannot be read: {error.strerror}. The folder of a model holds {parts}.") from None
    except ValueError:
        raise WrongUse(f"{path} is no JSON") from None
    return data


class _Code:
    """The learner's file, run as a module."""

    def __init__(self, exercise: Exercise, submission: Submission):
        self.exercise, self.submission = exercise, submission
        self.module = types.ModuleType(exercise.slug)
        with self.telling():
            exec(compile(submission.source, submission.filename, "exec"), self.module.__dict__)

    def __getitem__(self, name: str) -> Any:
        if not callable(getattr(self.module, name, None)):
            lesson = paths.shown(paths.lesson(self.exercise.folder))
            raise WrongUse(f"{self.submission.filename} has no {name}. See {lesson}")
        return getattr(self.module, name)

    @contextlib.contextmanager
    def telling(self) -> Iterator[None]:
        """Turn an exception of the learner's code into a WrongUse with its line."""
        try:
            yield
        except WrongUse:
            raise
        except Exception as error:
            name = self.submission.filename
            lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
            place = f"{name}:{lines[-1]}: " if lines else ""
            raise WrongUse(f"\n{place}{type(error).__name__}: {error}") from None
