"""einsum for every product, complex numbers for the rotation, float64 where x has it; queries grouped, nothing repeated."""

import json
import math

import torch
from torch import nn
from torch.nn import functional as F


def turned(x, first, theta):
    """Pair i is the complex number x[i] + j x[i + h / 2]."""
    half = x.shape[-1] // 2
    angles = torch.arange(first, first + x.shape[-2], dtype=torch.float64)
    angles = torch.outer(angles, theta ** -(torch.arange(half, dtype=torch.float64) / half)).to(x.device)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class RMSNorm(nn.RMSNorm):
    def __init__(self, dim, eps=1e-5):
        super().__init__(dim, eps=eps)

    def forward(self, x):
        wide = x.double() if x.dtype == torch.float64 else x.float()
        return F.rms_norm(wide, (x.shape[-1],), eps=self.eps).to(x.dtype) * self.weight


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim):
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(dim, hidden_dim, False) for _ in range(2))
        self.down_proj = nn.Linear(hidden_dim, dim, False)

    def forward(self, x):
        gate = torch.einsum("...d,md->...m", x, self.gate_proj.weight)
        up = torch.einsum("...d,md->...m", x, self.up_proj.weight)
        return torch.einsum("...m,dm->...d", F.silu(gate).mul(up), self.down_proj.weight)


class Attention(nn.Module):
    def __init__(self, dim, num_heads, num_kv_heads, head_dim, rope_theta=10_000.0):
        super().__init__()
        self.sizes = (num_kv_heads, num_heads // num_kv_heads, head_dim)
        self.rope_theta = rope_theta
        self.q_proj = nn.Linear(dim, num_heads * head_dim, bias=False)
        self.k_proj = nn.Linear(dim, num_kv_heads * head_dim, bias=False)
        self.v_proj = nn.Linear(dim, num_kv_heads * head_dim, bias=False)
        self.o_proj = nn.Linear(num_heads * head_dim, dim, bias=False)

    def forward(self, x, cache=None):
        groups, each, size = self.sizes
        past = 0 if cache is None else cache[0].shape[-2]
        q = torch.einsum("btd,grhd->bgrth", x, self.q_proj.weight.view(groups, each, size, -1))
        k = torch.einsum("btd,ghd->bgth", x, self.k_proj.weight.view(groups, size, -1))
        v = torch.einsum("btd,ghd->bgth", x, self.v_proj.weight.view(groups, size, -1))
        q, k = turned(q, past, self.rope_theta), turned(k, past, self.rope_theta)
        if cache is not None:
            k, v = torch.cat((cache[0], k), -2), torch.cat((cache[1], v), -2)
        scores = torch.einsum("bgrth,bgsh->bgrts", q, k) * size**-0.5
        rows = past + torch.arange(x.shape[1], device=x.device)
        columns = torch.arange(k.shape[-2], device=x.device)
        scores = torch.where(columns <= rows[:, None], scores, -torch.inf)
        mixed = torch.einsum("bgrts,bgsh->btgrh", scores.softmax(-1), v)
        weight = self.o_proj.weight.view(-1, groups, each, size)
        return torch.einsum("btgrh,dgrh->btd", mixed, weight), (k, v)


class Block(nn.Module):
    def __init__(self, dim, hidden_dim, num_heads, num_kv_heads, head_dim, rope_theta=10_000.0, eps=1e-5):
        super().__init__()
        self.input_layernorm = RMSNorm(dim, eps)
        self.self_attn = Attention(dim, num_heads, num_kv_heads, head_dim, rope_theta)
        self.post_attention_layernorm = RMSNorm(dim, eps)
        self.mlp = FeedForward(dim, hidden_dim)

    def forward(self, x, cache=None):
        change, cache = self.self_attn(self.input_layernorm(x), cache)
        x = x.add(change)
        return x.add(self.mlp(self.post_attention_layernorm(x))), cache


class Llama(nn.Module):
    def __init__(self, config):
        super().__init__()
        full = {"rope_parameters": {}, "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "head_dim": None} | config
        self.size = full["hidden_size"]
        heads = full["num_attention_heads"]
        theta = full.get("rope_theta", full["rope_parameters"].get("rope_theta", 10_000.0))
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(full["vocab_size"], self.size)
        self.model.layers = nn.ModuleList(
            Block(
                self.size,
                full["intermediate_size"],
                heads,
                full.get("num_key_value_heads", heads),
                full["head_dim"] if full["head_dim"] is not None else self.size // heads,
                theta,
                full["rms_norm_eps"],
            )
            for _ in range(full["num_hidden_layers"])
        )
        self.model.norm = RMSNorm(self.size, full["rms_norm_eps"])
        self.tied = full["tie_word_embeddings"]
        if not self.tied:
            self.lm_head = nn.Linear(self.size, full["vocab_size"], bias=False)

    def forward(self, token_ids, caches=None):
        x, new = F.embedding(token_ids, self.model.embed_tokens.weight), []
        caches = [None] * len(self.model.layers) if caches is None else caches
        for block, cache in zip(self.model.layers, caches, strict=True):
            x, cache = block(x, cache)
            new = [*new, cache]
        head = (self.model.embed_tokens if self.tied else self.lm_head).weight
        return torch.einsum("btd,vd->btv", self.model.norm(x), head), new


NAMES = "F64 F32 F16 BF16 I64 I32 U8 BOOL".split()
TYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool]


def read_safetensors(data):
    try:
        length = int.from_bytes(data[:8], "little")
        assert 8 <= len(data) and 8 + length <= len(data)
        header = json.loads(data[8 : 8 + length].decode())
        body = memoryview(data)[8 + length :]
        assert isinstance(header, dict)
        result, end_of_last = {}, 0
        entries = [(name, entry) for name, entry in header.items() if name != "__metadata__"]
        for name, entry in sorted(entries, key=lambda item: tuple(item[1]["data_offsets"])):
            begin, end = entry["data_offsets"]
            dtype = TYPES[NAMES.index(entry["dtype"])]
            assert (
                end_of_last <= begin <= end <= len(body) and math.prod(entry["shape"]) * dtype.itemsize == end - begin
            )
            end_of_last = end
            tensor = torch.zeros(entry["shape"], dtype=dtype)
            if end > begin:
                tensor.copy_(torch.frombuffer(bytearray(body[begin:end]), dtype=dtype).view(entry["shape"]))
            result[name] = tensor
    except (AssertionError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"damaged: {error}")
    return result


def next_distribution(logits, temperature=1.0, top_k=None, top_p=1.0):
    if not (temperature >= 0 and (top_k is None or top_k >= 1) and 0 < top_p <= 1):
        raise ValueError("arguments")
    vocabulary = logits.shape[-1]
    # how many tokens are larger, or equal with a lower id
    ids = torch.arange(vocabulary, device=logits.device)
    before = (logits[..., None, :] > logits[..., :, None]) | (
        (logits[..., None, :] == logits[..., :, None]) & (ids < ids[:, None])
    )
    rank = before.sum(dim=-1)
    if temperature == 0:
        return (rank == 0).to(logits.dtype)
    if top_k is not None:
        logits = torch.where(rank < top_k, logits, -torch.inf)
    p = (logits / temperature).softmax(dim=-1)
    if top_p < 1:
        above = (before * p.double().unsqueeze(-2)).sum(dim=-1)
        p = torch.where(above < top_p - 1e-9, p, 0.0)
        p = p / p.sum(dim=-1, keepdim=True)
    return p


def generate(model, token_ids, max_new_tokens, temperature=0.0, top_k=None, top_p=1.0, generator=None):
    text, caches = [token_ids], None
    for _ in range(max_new_tokens):
        with torch.no_grad():
            logits, caches = model(text[-1], caches)
        p = next_distribution(logits[:, -1], temperature, top_k, top_p)
        text.append(torch.multinomial(p, 1, generator=generator) if temperature else p.argmax(-1)[:, None])
    return torch.cat(text, dim=1)
