"""Trains the model in this lesson's folder: `python exercises/33_llama/train.py`, some ten minutes on two cores.

It trains whatever class Llama it finds in the file that it is given, so once you have passed you can train your own. A
training that was stopped goes on where it was, from the file training.pt in the folder that it writes to.
"""

import argparse
import importlib.util
import json
import random
import time
from pathlib import Path

import stories
import torch
from torch.nn import functional as F

HERE = Path(__file__).parent
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": len(stories.vocabulary()),
    "hidden_size": 96,
    "intermediate_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "hidden_act": "silu",
    "max_position_embeddings": 256,
    "rope_theta": 10000.0,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": True,
    "attention_bias": False,
    "mlp_bias": False,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "torch_dtype": "float16",
}
STEPS, WARM_UP, BATCH, LENGTH = 3000, 100, 16, 192
COOL_DOWN = 0.25  # the share of all steps in which the rate falls to 0
RATE, DECAY, SEED = 2e-3, 0.01, 0
FRESH_SEED, FRESH = 1_000_003, 200  # stories that are never trained on


def rows(seed: random.Random, ids: dict[str, int]) -> torch.Tensor:
    """Stories end to end, each row beginning with one: (BATCH, LENGTH + 1)."""
    batch = []
    for _ in range(BATCH):
        row: list[str] = []
        while len(row) <= LENGTH:
            row += stories.random_story(seed).tokens
        batch.append([ids[token] for token in row[: LENGTH + 1]])
    return torch.tensor(batch)


def losses(model, count: int = FRESH) -> tuple[float, float]:
    """On fresh stories, in nats a token: what the model says, and what the grammar says."""
    seed, ids = random.Random(FRESH_SEED), {token: index for index, token in enumerate(stories.vocabulary())}
    loss, truth, tokens = 0.0, 0.0, 0
    for _ in range(count):
        story = stories.random_story(seed)
        row = torch.tensor([[ids[token] for token in story.tokens]])
        with torch.no_grad():
            logits, _ = model(row)
        loss += float(F.cross_entropy(logits[0, :-1], row[0, 1:], reduction="sum"))
        truth -= sum(story.log_probabilities)
        tokens += row.shape[1] - 1
    return loss / tokens, truth / tokens


def train(model, path: Path, steps: int) -> None:
    """Train the model in place. path: of the file from which a training goes on."""
    seed, ids = random.Random(SEED), {token: index for index, token in enumerate(stories.vocabulary())}
    generator, done = torch.Generator().manual_seed(SEED), 0
    torch.nn.init.normal_(model.get_parameter("model.embed_tokens.weight"), std=0.05, generator=generator)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY)
    if path.exists():
        kept = torch.load(path, weights_only=True)
        done = kept["done"]
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        seed = random.Random(done)
    began = time.monotonic()
    for step in range(done, steps):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min((step + 1) / WARM_UP, 1.0, (steps - step) / (COOL_DOWN * steps))
        batch = rows(seed, ids)
        logits, _ = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if (step + 1) % 100 == 0 or step + 1 == steps:
            kept = {"done": step + 1, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(kept, path)
            seconds = time.monotonic() - began
            print(f"step {step + 1:5}  loss {float(loss.detach()):.4f}  {seconds:6.0f} s", flush=True)


def save(model, folder: Path) -> None:
    """Write config.json, tokenizer.json and model.safetensors, as the libraries of Hugging Face read them."""
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n", "utf-8")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, parameter in model.named_parameters():
        raw = bytes(parameter.detach().half().contiguous().view(torch.uint8).numpy())
        header[name] = {
            "dtype": "F16",
            "shape": list(parameter.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)


def tokenizer() -> dict:
    """A tokenizer of whole words, each with the space before it."""
    special = {"id": 0, "content": stories.BEGIN, "special": True}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    begin = {"SpecialToken": {"id": stories.BEGIN, "type_id": 0}}
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special | flags],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": stories.TOKEN},
            "behavior": "Isolated",
            "invert": False,
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [begin, first],
            "pair": [begin, first, second],
            "special_tokens": {stories.BEGIN: {"id": stories.BEGIN, "ids": [0], "tokens": [stories.BEGIN]}},
        },
        "decoder": {"type": "Fuse"},
        "model": {
            "type": "WordLevel",
            "vocab": {token: index for index, token in enumerate(stories.vocabulary())},
            "unk_token": stories.BEGIN,
        },
    }


def main() -> None:
    """Train, save, and say how far the model is from the best possible."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--submission", type=Path, default=HERE / "llama.py", help="a file with a class Llama")
    parser.add_argument("--output", type=Path, default=HERE, help="the folder that the model is written to")
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    spec = importlib.util.spec_from_file_location("llama", options.submission)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.manual_seed(SEED)
    model = module.Llama(CONFIG)
    options.output.mkdir(parents=True, exist_ok=True)
    train(model, options.output / "training.pt", options.steps)
    save(model, options.output)
    entropy, length = stories.exact_entropy()
    loss, truth = losses(model)
    print(f"all stories: {entropy / length:.4f} nats a token is the best that any model can do")
    print(f"{FRESH} fresh ones: the model's loss is {loss:.4f}, the grammar's {truth:.4f}, apart {loss - truth:.4f}")


if __name__ == "__main__":
    main()
