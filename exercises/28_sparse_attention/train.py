"""Fits the indexer in this lesson's folder.

    python exercises/28_sparse_attention/train.py [FILE]

The heads are those of layer 1 in the model of exercise 33, reading its stories. Their model is not changed. As in
DeepSeek-V3.2, the indexer learns what the heads look at taken together: its scores' softmax is brought close, by the KL
divergence, to the heads' weights summed and divided by their number.
"""

import json
import random
import sys
from pathlib import Path

import torch
from torch.nn import functional as F

HERE = Path(__file__).parent
MODEL = HERE.parent / "33_llama"
sys.path.insert(0, str(MODEL))
import stories  # noqa: E402

HEADS, GROUPS, SIZE, LAYER, TOKENS = 6, 2, 16, 1, 192
INDEX_HEADS, INDEX_SIZE = 4, 16
TEXTS, KEPT, STEPS, BATCH, RATE = 256, 8, 2000, 8, 0.01
FUTURE = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)


def drawn_texts(count: int) -> torch.Tensor:
    """Stories end to end, as the model was trained: (count, TOKENS)."""
    seed, ids = random.Random(33), {token: index for index, token in enumerate(stories.vocabulary())}
    rows = []
    for _ in range(count):
        row: list[str] = []
        while len(row) < TOKENS:
            row += stories.random_story(seed).tokens
        rows.append([ids[token] for token in row[:TOKENS]])
    return torch.tensor(rows)


def read_model() -> dict[str, torch.Tensor]:
    data = (MODEL / "model.safetensors").read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    body = torch.frombuffer(bytearray(data[start:]), dtype=torch.float16).float()
    state = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            first, last = (offset // 2 for offset in entry["data_offsets"])
            state[name.removeprefix("model.")] = body[first:last].reshape(entry["shape"])
    return state


def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def rotated(x: torch.Tensor) -> torch.Tensor:
    """Positions for queries or keys (B, heads, T, 16), half-split as in exercise 19."""
    angles = torch.arange(x.shape[-2])[:, None] * 10_000.0 ** -(torch.arange(8) / 8)
    one, two = x.chunk(2, dim=-1)
    return torch.cat([one * angles.cos() - two * angles.sin(), two * angles.cos() + one * angles.sin()], dim=-1)


def head_weights(x: torch.Tensor, state: dict[str, torch.Tensor], layer: int) -> torch.Tensor:
    """The attention weights of the six heads of a layer that reads x: (B, 6, T, T)."""
    queries, keys = (F.linear(x, state[f"layers.{layer}.self_attn.{name}_proj.weight"]) for name in "qk")
    queries, keys = (rotated(t.unflatten(-1, (-1, SIZE)).transpose(1, 2)) for t in (queries, keys))
    scores = queries @ keys.repeat_interleave(HEADS // GROUPS, dim=1).mT / SIZE**0.5
    return torch.softmax(scores.masked_fill(FUTURE, -torch.inf), dim=-1)


def read_by_heads(ids: torch.Tensor, state: dict[str, torch.Tensor], last: int) -> torch.Tensor:
    """What the heads of layer `last` read: (B, T, 96)."""
    x = state["embed_tokens.weight"][ids]
    for layer in range(last):
        name = f"layers.{layer}"
        normed = norm(x, state[f"{name}.input_layernorm.weight"])
        values = F.linear(normed, state[f"{name}.self_attn.v_proj.weight"]).unflatten(-1, (-1, SIZE)).transpose(1, 2)
        mixed = head_weights(normed, state, layer) @ values.repeat_interleave(HEADS // GROUPS, dim=1)
        x = x + F.linear(mixed.transpose(1, 2).flatten(2), state[f"{name}.self_attn.o_proj.weight"])
        normed = norm(x, state[f"{name}.post_attention_layernorm.weight"])
        gate, up = (F.linear(normed, state[f"{name}.mlp.{part}_proj.weight"]) for part in ("gate", "up"))
        x = x + F.linear(F.silu(gate) * up, state[f"{name}.mlp.down_proj.weight"])
    return norm(x, state[f"layers.{last}.input_layernorm.weight"])


def index_scores(x: torch.Tensor, query: torch.Tensor, key: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The formula of the lesson, of queries and keys with positions: (B, T, T), −∞ for keys to come."""
    queries = rotated((x @ query).unflatten(-1, (-1, INDEX_SIZE)).transpose(1, 2))  # (B, I, T, c)
    keys = rotated((x @ key)[:, None])  # (B, 1, T, c)
    scores = ((x @ weight).mT[..., None] * torch.relu(queries @ keys.mT)).sum(dim=1)
    return scores.masked_fill(FUTURE, -torch.inf)


def fit(x: torch.Tensor, target: torch.Tensor, steps: int) -> tuple[dict[str, torch.Tensor], float]:
    """The indexer's three matrices, and the divergence in nats that was left, over the last 50 steps."""
    generator = torch.Generator().manual_seed(0)
    widths = {"query": INDEX_HEADS * INDEX_SIZE, "key": INDEX_SIZE, "weight": INDEX_HEADS}
    parts = {name: torch.randn(x.shape[-1], n, generator=generator) / x.shape[-1] ** 0.5 for name, n in widths.items()}
    for part in parts.values():
        part.requires_grad_()
    optimizer = torch.optim.Adam(parts.values(), lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    left = []
    for _ in range(steps):
        picked = torch.randint(len(x), (BATCH,), generator=generator)
        guess = torch.log_softmax(index_scores(x[picked], **parts), dim=-1).masked_fill(FUTURE, 0.0)
        loss = F.kl_div(guess, target[picked], reduction="sum") / (BATCH * TOKENS)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        left.append(loss.item())
    return {name: part.detach() for name, part in parts.items()}, sum(left[-50:]) / len(left[-50:])


def main(file: Path, steps: int = STEPS) -> None:
    torch.set_num_threads(1)
    state, ids = read_model(), drawn_texts(KEPT + TEXTS)
    with torch.no_grad():
        x = read_by_heads(ids, state, LAYER).half()  # kept in this type
        target = head_weights(x.float(), state, LAYER).mean(dim=1)
    indexer, left = fit(x[KEPT:].float(), target[KEPT:], steps)
    print(f"{left:.4f} nats between the indexer and the heads, after {steps} steps")
    layer = f"layers.{LAYER}.self_attn"
    kept = {"ids": ids[:KEPT].clone(), "inputs": x[:KEPT].clone()}
    kept |= {f"heads.{name}": state[f"{layer}.{name[0]}_proj.weight"].half() for name in ("query", "key")}
    torch.save(kept | {f"indexer.{name}": part for name, part in indexer.items()}, file)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "trained.pt")
