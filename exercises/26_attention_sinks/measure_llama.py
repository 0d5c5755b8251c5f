"""Does the model of exercise 33 have attention sinks? Its loss a token in caches that keep less and less.

    make experiment EX=26 ARGS=llama

The model was trained on rows of 192 tokens, whole stories one after another, and reads rows of 512 here. The loss is
that of the last 128 predictions. Beside it, for the same tokens: the weight on the first kept token, as the mean of the
24 heads and of the head that gives it most; and the mean of a fair share, 1 over the number of keys.
"""

import random
import runpy
import sys
from pathlib import Path

import torch
from torch.nn import functional as F

MODEL = Path(__file__).parents[1] / "33_llama"
sys.path.insert(0, str(MODEL))
import stories  # noqa: E402

LLAMA = runpy.run_path(str(MODEL / "experiment.py"))
STATE, norm = LLAMA["STATE"], LLAMA["norm"]
HEADS, GROUPS, SIZE, LAYERS = 6, 2, 16, 4
ROWS, TOKENS, LAST, TRAINED, KEPT, SINKS = 8, 512, 128, 192, 64, 4


def texts() -> torch.Tensor:
    """Stories end to end that the model was not trained on: (ROWS, TOKENS + 1)."""
    seed, ids = random.Random(32), {token: index for index, token in enumerate(stories.vocabulary())}
    rows = []
    for _ in range(ROWS):
        row: list[str] = []
        while len(row) <= TOKENS:
            row += stories.random_story(seed).tokens
        rows.append([ids[token] for token in row[: TOKENS + 1]])
    return torch.tensor(rows)


def rotated(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    angles = places[:, None] * 10_000.0 ** -(torch.arange(SIZE // 2) / (SIZE // 2))
    one, two = x.chunk(2, dim=-1)
    return torch.cat([one * angles.cos() - two * angles.sin(), two * angles.cos() + one * angles.sin()], dim=-1)


def read(ids: torch.Tensor, sinks: int, window: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The logits after each token, and each token's weight on the first kept one: (B, T, V), (B, LAYERS · HEADS, T).

    Each token sees the first `sinks` tokens and the last `window`, itself included, by places in the cache. Within the
    window the distances are those of the text, so one pass serves all tokens: only the sinks move closer.
    """
    x, place = STATE["embed_tokens.weight"][ids], torch.arange(ids.shape[1])
    back = place[:, None] - place
    kept = (back >= 0) & ((back < window) | (place < sinks))
    first = kept.int().argmax(dim=-1)  # the first kept token of each row
    on_first = []
    for layer in (f"layers.{number}." for number in range(LAYERS)):
        normed = norm(x, f"{layer}input_layernorm", "")
        q, k, v = (F.linear(normed, STATE[f"{layer}self_attn.{n}_proj.weight"]) for n in "qkv")
        q, k, v = (t.unflatten(-1, (-1, SIZE)).transpose(1, 2) for t in (q, k, v))
        k, v = (t.repeat_interleave(HEADS // GROUPS, dim=1) for t in (k, v))
        scores = rotated(q, place) @ rotated(k, place).mT
        near = rotated(q, place.clamp(max=sinks + window - 1)) @ rotated(k, place).mT  # the query's place in the cache
        scores = torch.where((back >= window) & (place < sinks), near, scores) / SIZE**0.5
        weights = torch.softmax(scores.masked_fill(~kept, -torch.inf), dim=-1)
        on_first.append(weights.gather(-1, first[:, None].expand(*weights.shape[:-1], 1))[..., 0])
        x = x + F.linear((weights @ v).transpose(1, 2).flatten(2), STATE[f"{layer}self_attn.o_proj.weight"])
        normed = norm(x, f"{layer}post_attention_layernorm", "")
        gate, up = (F.linear(normed, STATE[f"{layer}mlp.{part}_proj.weight"]) for part in ("gate", "up"))
        x = x + F.linear(F.silu(gate) * up, STATE[f"{layer}mlp.down_proj.weight"])
    return F.linear(norm(x, "norm", ""), STATE["embed_tokens.weight"]), torch.cat(on_first, dim=1)


def row(name: str, logits: torch.Tensor, on_first: torch.Tensor, targets: torch.Tensor, keys: int) -> dict:
    """logits (B, N, V), on_first (B, heads, N), targets (B, N)."""
    heads = on_first.mean(dim=(0, 2))
    loss = float(F.cross_entropy(logits.flatten(0, 1), targets.flatten()))
    most = float(heads.max())
    return {"kept": name, "loss": loss, "on first": float(heads.mean()), "most": most, "fair": 1 / keys}


@torch.no_grad()
def measure() -> list[dict]:
    ids = texts()
    rows, targets, given = [], ids[:, TOKENS - LAST + 1 :], ids[:, :TOKENS]
    logits, on_first = read(given[:, :TRAINED], 0, TRAINED)
    within = slice(TRAINED - LAST, TRAINED)
    near = ids[:, TRAINED - LAST + 1 : TRAINED + 1]
    rows.append(row("all, within 192", logits[:, within], on_first[:, :, within], near, TRAINED - LAST // 2))
    for name, sinks, window, keys in (
        ("all 512", 0, TOKENS, TOKENS - LAST // 2),
        ("last 64", 0, KEPT, KEPT),
        ("first 4, last 60", SINKS, KEPT - SINKS, KEPT),
    ):
        logits, on_first = read(given, sinks, window)
        rows.append(row(name, logits[:, -LAST:], on_first[:, :, -LAST:], targets, keys))
    again = given.unfold(1, KEPT, 1)[:, -LAST:].flatten(0, 1)  # the last 64 tokens of each, read from nothing
    logits, on_first = read(again, 0, KEPT)
    logits, on_first = logits[:, -1:].reshape(ROWS, LAST, -1), on_first[:, :, -1:].reshape(ROWS, LAST, -1).mT
    return [*rows, row("last 64, again", logits, on_first, targets, KEPT)]


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("kept                  loss   on first    most    fair")
    for one in measure():
        print(f"{one['kept']:<18}{one['loss']:8.3f}{one['on first']:11.4f}{one['most']:8.4f}{one['fair']:8.4f}")
