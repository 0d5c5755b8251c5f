"""What does one token see, and what would it guess? The journey of " made" through the model in the lesson's folder.

    make experiment EX=33 ARGS="journey your_file.py"

The story ends with " made". After each block its vector goes through the last norm and the head, as if the model ended
there: the first table has the guess, the second the vector's length. The last rows of the first leave a part out of
every block. The third has the largest weight that a head of " made" gives to " three" and to " two".
"""

import json
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch.nn import functional as F

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import stories  # noqa: E402

STORY = (
    "Once upon a time there was a quiet girl named Zoe. She lived in a small tower behind the mill. One foggy "
    "afternoon Zoe wandered to the school and found three red shells. Then she found two more, and that made"
)
Parts = dict[str, torch.nn.Module]  # by name

rotate = runpy.run_path(str(HERE / "experiment.py"))["rotate"]


def weights(attention: torch.nn.Module, x: torch.Tensor, config: dict) -> torch.Tensor:
    """The weights that the last token gives in each head: (H, T)."""
    size, shared = config["head_dim"], config["num_attention_heads"] // config["num_key_value_heads"]
    projected = (layer(x).unflatten(-1, (-1, size)).transpose(1, 2) for layer in (attention.q_proj, attention.k_proj))
    queries, keys = (rotate(one, "") for one in projected)
    scores = queries[:, :, -1:] @ keys.repeat_interleave(shared, dim=1).mT / size**0.5
    return torch.softmax(scores, dim=-1)[0, :, 0]


def walk(parts: Parts, x: torch.Tensor, layers: int, without: str = "") -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """What each block's attention reads, and what leaves the block."""
    for number in range(layers):
        block = f"model.layers.{number}."
        read = parts[f"{block}input_layernorm"](x)
        added = parts[f"{block}self_attn"](read)[0] * (without != "attention")
        x = x + added
        added = parts[f"{block}mlp"](parts[f"{block}post_attention_layernorm"](x)) * (without != "feed-forward")
        x = x + added
        yield read, x


@torch.no_grad()
def main(file: str) -> None:
    mine, config, words = runpy.run_path(file), json.loads((HERE / "config.json").read_text()), stories.vocabulary()
    model = mine["Llama"](config)
    model.load_state_dict(mine["read_safetensors"]((HERE / "model.safetensors").read_bytes()))
    parts, layers = dict(model.named_modules()), config["num_hidden_layers"]
    story = [stories.BEGIN, *re.findall(stories.TOKEN, STORY)]
    embedded = parts["model.embed_tokens"](torch.tensor([[words.index(word) for word in story]]))

    def guess(name: str, x: torch.Tensor) -> None:
        logits = F.linear(parts["model.norm"](x[0, -1]), parts["model.embed_tokens"].weight)
        share, best = torch.softmax(logits, dim=-1).max(dim=-1)
        print(f"{name:<16}{words[best].strip():<5}{share:6.3f}")

    reads, leaves = zip(*walk(parts, embedded, layers), strict=True)
    vectors = {"the embedding": embedded, **{f"block {number}": x for number, x in enumerate(leaves)}}
    print("after           first guess")
    for name, x in vectors.items():
        guess(name, x)
    for part in ("attention", "feed-forward"):
        *_, (_, x) = walk(parts, embedded, layers, without=part)
        guess(f"no {part}", x)
    print("\nafter           length")
    for name, x in vectors.items():
        print(f"{name:<16}{x[0, -1].norm():6.1f}")
    print("\nlargest weight  three    two")
    for number, read in enumerate(reads):
        seen = weights(parts[f"model.layers.{number}.self_attn"], read, config)
        three, two = (float(seen[:, story.index(word)].max()) for word in (" three", " two"))
        print(f"block {number}          {three:.2f}{two:7.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
