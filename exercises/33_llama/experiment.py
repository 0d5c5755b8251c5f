"""What does each wrong part of a Llama cost, and would you notice?

The model of exercise 33 writes 24 stories, drawn token by token. Then it reads them again, with one part wrong as
people really write it. Cost: the rise of its loss, in nats a token. "right of 100": how often its guess comes next.
"""

import json

import torch
from torch.nn import functional as F

CLAIM = "Another eps and gelu cost less than 0.01 nats each; no rotation and parallel parts cost more than 1."

HEADS, GROUPS, SIZE, LAYERS, STORIES, TOKENS = 6, 2, 16, 4, 24, 96
WRONG = ("nothing", "eps of 1e-3", "gelu for silu", "no last norm", "√dim for √head_dim", "key heads 0 1 0 1 0 1",
         "both parts read x", "nothing rotated")  # fmt: skip
torch.set_num_threads(1)


def read(path: str) -> dict[str, torch.Tensor]:
    with open(path, "rb") as file:
        data = file.read()
    start = 8 + int.from_bytes(data[:8], "little")
    entries = {name: entry for name, entry in json.loads(data[8:start]).items() if name != "__metadata__"}
    body = torch.frombuffer(bytearray(data[start:]), dtype=torch.float16).float()
    places = {name: slice(*(offset // 2 for offset in entry["data_offsets"])) for name, entry in entries.items()}
    return {name[6:]: body[places[name]].reshape(entry["shape"]) for name, entry in entries.items()}  # without "model."


STATE = read(__file__.replace("experiment.py", "model.safetensors"))


def norm(x: torch.Tensor, name: str, wrong: str) -> torch.Tensor:
    eps = 1e-3 if wrong == "eps of 1e-3" else 1e-5
    return STATE[f"{name}.weight"] * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)


def rotate(x: torch.Tensor, wrong: str) -> torch.Tensor:
    angles = torch.arange(x.shape[2])[:, None] * 10_000.0 ** -(torch.arange(SIZE // 2) / (SIZE // 2))
    cos, sin = angles.cos(), angles.sin()
    a, b = x.chunk(2, dim=-1)
    return x if wrong == "nothing rotated" else torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def logits(ids: torch.Tensor, wrong: str) -> torch.Tensor:
    x, hidden = STATE["embed_tokens.weight"][ids], torch.ones(ids.shape[1], ids.shape[1]).triu(1).bool()
    for layer in (f"layers.{number}." for number in range(LAYERS)):
        linear = lambda x, name, layer=layer: F.linear(x, STATE[f"{layer}{name}_proj.weight"])  # noqa: E731
        normed = norm(x, f"{layer}input_layernorm", wrong)
        q, k, v = (linear(normed, f"self_attn.{n}").unflatten(-1, (-1, SIZE)).transpose(1, 2) for n in "qkv")
        k, q, each = rotate(k, wrong), rotate(q, wrong), HEADS // GROUPS
        k, v = (t.repeat(1, each, 1, 1) if "0 1 0" in wrong else t.repeat_interleave(each, 1) for t in (k, v))
        scores = q @ k.mT / (HEADS * SIZE if wrong == "√dim for √head_dim" else SIZE) ** 0.5
        mixed = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1) @ v
        summed = x + linear(mixed.transpose(1, 2).flatten(2), "self_attn.o")
        normed = norm(x if wrong == "both parts read x" else summed, f"{layer}post_attention_layernorm", wrong)
        gate = (F.gelu if wrong == "gelu for silu" else F.silu)(linear(normed, "mlp.gate"))
        x = summed + linear(gate * linear(normed, "mlp.up"), "mlp.down")
    return F.linear(x if wrong == "no last norm" else norm(x, "norm", wrong), STATE["embed_tokens.weight"])


@torch.no_grad()
def measure() -> list[dict[str, float]]:
    generator, rows, ids = torch.Generator().manual_seed(26), [], torch.zeros(STORIES, 1, dtype=torch.int64)
    for _ in range(TOKENS):  # token 0 begins a story
        p = torch.softmax(logits(ids, "nothing")[:, -1], dim=-1)
        ids = torch.cat([ids, torch.multinomial(p, 1, generator=generator)], dim=1)
    for wrong in WRONG:
        said = logits(ids, wrong)[:, :-1]
        loss, right = float(F.cross_entropy(said.mT, ids[:, 1:])), (said.argmax(-1) == ids[:, 1:]).double().mean()
        best = loss if wrong == "nothing" else best
        rows.append({"wrong": wrong, "cost, nats": loss - best, "right of 100": 100 * float(right)})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    cost = {row["wrong"]: row["cost, nats"] for row in rows}
    return max(cost[one] for one in WRONG[1:3]) < 0.01 and min(cost[one] for one in WRONG[-2:]) > 1
