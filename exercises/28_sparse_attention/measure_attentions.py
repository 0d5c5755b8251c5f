"""Which attention when: what each kind costs as the text grows, measured on your own functions.

    make experiment EX=28 ARGS=attentions
    python exercises/28_sparse_attention/measure_attentions.py [--most TOKENS] [--seconds S] [--mib M]

One sequence, two heads of 32 numbers, float32, one core, no gradients. Each number is from a process of its own:
the time of one call for all T tokens, and by how much the process grew in it, both divided by T. Your function is
measured if it gives what the reference gives, otherwise the reference, with a star. What would take longer than
--seconds or more memory than --mib, going by the sizes before it, is left out and named. The whole table takes some
minutes.
"""

import argparse
import importlib.util
import math
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import torch

TOKENS = (1024, 2048, 4096, 8192, 16_384, 32_768)
HEADS, SIZE, WIDTH = 2, 32, 64
WINDOW, SINKS, BLOCK, CHUNK, CHOSEN, INDEX_HEADS, INDEX_SIZE, LATENT, TURNED = 256, 4, 256, 64, 64, 2, 16, 32, 16
SECONDS, MIB = 60.0, 3072.0
EXERCISES = Path(__file__).resolve().parents[1]
SOLUTIONS = EXERCISES.parent / "solutions"
LINE = 76

Call = Callable[[], torch.Tensor]


@dataclass(frozen=True)
class Way:
    """One kind of attention. prepare: a module and T → a call for T tokens; kept: numbers in the cache after T."""

    exercise: str
    name: str
    prepare: Callable[[ModuleType, int], Call]
    kept: Callable[[int], int]
    loses: str
    models: str


@dataclass
class Row:
    """What was measured of one way. why: what is said of each T that was left out."""

    way: Way
    whose: str
    ms: dict[int, float] = field(default_factory=dict)  # a token
    mib: dict[int, float] = field(default_factory=dict)  # a token
    why: dict[int, str] = field(default_factory=dict)


def heads(tokens: int, count: int = 3) -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(count, 1, HEADS, tokens, SIZE))


def embedded(tokens: int) -> torch.Tensor:
    return torch.randn(1, tokens, WIDTH)


def multi_head(module: ModuleType, tokens: int) -> Call:
    layer, x = module.MultiHeadAttention(WIDTH, WIDTH, tokens, 0.0, HEADS), embedded(tokens)
    return lambda: layer(x)


def grouped(module: ModuleType, tokens: int) -> Call:
    layer, x = module.GroupedQueryAttention(WIDTH, WIDTH, HEADS, 1), embedded(tokens)
    return lambda: layer(x)


def window(module: ModuleType, tokens: int) -> Call:
    inputs = heads(tokens)
    return lambda: module.sliding_window_attention(*inputs, WINDOW)


def flash(module: ModuleType, tokens: int) -> Call:
    inputs = heads(tokens)
    return lambda: module.flash_attention(*inputs, BLOCK, True)


def latent(module: ModuleType, tokens: int) -> Call:
    layer, x = module.LatentAttention(WIDTH, HEADS, SIZE, LATENT, TURNED), embedded(tokens)
    return lambda: layer(x)[0]


def delta(module: ModuleType, tokens: int) -> Call:
    queries, keys, values = heads(tokens)
    keys, decays = torch.nn.functional.normalize(keys, dim=-1), -torch.rand(1, HEADS, tokens)
    betas = torch.rand(1, HEADS, tokens)
    return lambda: module.gated_delta_rule(queries, keys, values, decays, betas, CHUNK)[0]


def streaming(module: ModuleType, tokens: int) -> Call:
    queries, keys, values = heads(tokens)

    def call() -> torch.Tensor:
        cache, output = module.StreamingCache(SINKS, WINDOW - SINKS), queries[:, :, :1]
        for t in range(tokens):
            now = slice(t, t + 1)
            cache.append(keys[:, :, now], values[:, :, now])
            output = module.streaming_attention(queries[:, :, now], cache)
        return output

    return call


def sparse(module: ModuleType, tokens: int) -> Call:
    inputs = heads(tokens)
    queries, keys = torch.randn(1, tokens, INDEX_HEADS, INDEX_SIZE), torch.randn(1, tokens, INDEX_SIZE)
    weights = torch.rand(1, tokens, INDEX_HEADS)
    return lambda: module.indexed_attention(*inputs, queries, keys, weights, CHOSEN, BLOCK)


BOTH = 2 * HEADS * SIZE  # the key and the value of one token, all heads
WAYS = (
    Way("13", "multi-head", multi_head, lambda T: T * BOTH, "nothing", "GPT-2"),
    Way(
        "21",
        "grouped heads",
        grouped,
        lambda T: T * BOTH // 2,
        "a choice of keys for each head: groups share them",
        "Llama 3, Qwen3, Mistral",
    ),
    Way(
        "22",
        f"window of {WINDOW}",
        window,
        lambda T: min(T, WINDOW) * BOTH,
        "what is further back than the window, within one layer",
        "Mistral 7B; every other layer or more of Gemma 2 and 3 and gpt-oss",
    ),
    Way(
        "23",
        "latent",
        latent,
        lambda T: T * (LATENT + TURNED),
        "keys and values that don't fit into the latent",
        "DeepSeek-V2 and V3, Kimi K2",
    ),
    Way(
        "26",
        "sinks and window",
        streaming,
        lambda T: min(T, WINDOW) * BOTH,
        "everything between the first tokens and the window",
        "StreamingLLM on trained models; learned sinks: gpt-oss",
    ),
    Way(
        "27",
        "delta rule",
        delta,
        lambda T: HEADS * SIZE * SIZE,
        "old pairs, once there are more of them than rows in the state",
        "three layers in four of Qwen3-Next",
    ),
    Way(
        "28",
        f"{CHOSEN} chosen keys",
        sparse,
        lambda T: T * (BOTH + INDEX_SIZE),
        "what the indexer doesn't choose",
        "DeepSeek-V3.2",
    ),
    Way(
        "31",
        "flash",
        flash,
        lambda T: T * BOTH,
        "nothing: the same numbers, computed in tiles",
        "nearly all, as the kernel of 13 and 21",
    ),
)


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"measured_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def found(root: Path, way: Way) -> ModuleType | None:
    """The module of an exercise below this folder, if it is there and can be loaded."""
    for folder in root.glob(f"{way.exercise}_*"):
        try:
            return load(folder / f"{folder.name.partition('_')[2]}.py")
        except Exception:  # a learner's file may raise anything
            return None
    return None


def small_output(way: Way, module: ModuleType | None, tokens: int = 24) -> torch.Tensor | None:
    """What a few tokens give, from one seed; None if nothing works there yet."""
    torch.manual_seed(33)
    try:
        return way.prepare(module, tokens)() if module is not None else None
    except Exception:
        return None


def chosen_module(way: Way, mine: Path = EXERCISES, reference: Path = SOLUTIONS) -> tuple[ModuleType | None, str]:
    """What is measured, and whose it is: "yours", "reference", or "" if neither works."""
    own, other = found(mine, way), found(reference, way)
    output, expected = small_output(way, own), small_output(way, other)
    if isinstance(output, torch.Tensor) and (
        expected is None or (output.shape == expected.shape and torch.allclose(output, expected, atol=1e-4))
    ):
        return own, "yours"
    return (other, "reference") if expected is not None else (None, "")


def one(way: Way, module: ModuleType, tokens: int) -> tuple[float, float]:
    """Seconds of the call, and MiB by which this process grew in it. A small call goes before."""
    with torch.no_grad():
        way.prepare(module, min(tokens, 2 * BLOCK))()
        call = way.prepare(module, tokens)
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
        call()
        seconds = time.perf_counter() - start
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return seconds, grown / (2**20 if sys.platform == "darwin" else 2**10)  # bytes there, KiB on Linux


def in_child(way: Way, module: ModuleType, tokens: int) -> tuple[float, float]:
    """The same in a process of its own. Raises RuntimeError if it ended early, as for want of memory."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(one(way, module, tokens)))
    child.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        raise RuntimeError("its process ended early, perhaps for want of memory") from None
    finally:
        child.join()


def too_much(totals: dict[int, tuple[float, float]], tokens: int, seconds: float, mib: float) -> str:
    """Why a size is not tried, going by the two before it; "" if it may be."""
    if len(totals) < 2:
        return ""
    (before, small), (last, large) = list(totals.items())[-2:]
    steps = math.log(tokens / last) / math.log(last / before)
    time_left, memory = (large[i] * min(max(large[i] / max(small[i], 1e-3), 1), 5) ** steps for i in (0, 1))
    if memory > mib:
        return f"would take about {memory / 1024:.1f} GiB of memory"
    return f"would take about {time_left:.0f} s" if time_left > seconds else ""


def measured(
    way: Way, module: ModuleType | None, whose: str, sizes: tuple[int, ...], seconds: float, mib: float
) -> Row:
    row, totals = Row(way, whose), dict[int, tuple[float, float]]()
    for tokens in sizes:
        if module is None:
            row.why[tokens] = "is not written yet"
        elif why := too_much(totals, tokens, seconds, mib):
            row.why[tokens] = why
        else:
            try:
                totals[tokens] = took, grew = in_child(way, module, tokens)
                row.ms[tokens], row.mib[tokens] = 1000 * took / tokens, grew / tokens
            except RuntimeError as error:
                row.why[tokens] = str(error)
    return row


def exponent(a_token: dict[int, float]) -> float:
    """p, if the total grows like T to the power of p, over the last two doublings; NaN where too little is known."""
    sizes = sorted(a_token)[-3:]
    if len(sizes) < 2 or a_token[sizes[0]] <= 0 or a_token[sizes[-1]] <= 0:
        return math.nan
    return 1 + math.log(a_token[sizes[-1]] / a_token[sizes[0]]) / math.log(sizes[-1] / sizes[0])


def table(rows: list[Row], sizes: tuple[int, ...]) -> list[str]:
    """The lines that are printed."""
    lines = []
    for title, of in (("milliseconds a token", lambda row: row.ms), ("MiB a token", lambda row: row.mib)):
        lines += [f"{title:<21}" + "".join(f"{size:>8,}" for size in sizes) + " grows"]
        for row in rows:
            numbers = (f"{of(row)[size]:8.4f}" if size in of(row) else f"{'–':>8}" for size in sizes)
            power = exponent(of(row))
            grows = f"  T^{power:.1f}" if math.isfinite(power) else "     –"
            lines.append(f"{named(row):<21}" + "".join(numbers) + grows)
        lines.append("")
    lines.append(f"{'kept for the next token':<29}{f'KiB at {sizes[-1]:,}':>18}")
    for row in rows:
        lines.append(f"{named(row):<29}{4 * row.way.kept(sizes[-1]) / 1024:>18,.0f}")
    lines += ["", "what it loses; models that have it"]
    for row in rows:
        lines += [f"{named(row)}", f"    loses {row.way.loses}", f"    {row.way.models}"]
    if any(row.whose == "reference" for row in rows):
        lines += ["", "* the reference: your own function is not written yet, or gives something else"]
    left = [f"{row.way.exercise} at {size:,} {why}" for row in rows for size, why in row.why.items()]
    return [*lines, *([""] if left else []), *(f"– {text}" for text in left)]


def named(row: Row) -> str:
    return f"{row.way.exercise} {row.way.name}{'*' if row.whose == 'reference' else ''}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Which attention when: time and memory of each kind.")
    parser.add_argument("--most", type=int, default=TOKENS[-1], metavar="TOKENS", help="the longest text")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="leave out what would take longer")
    parser.add_argument("--mib", type=float, default=MIB, help="leave out what would take more memory")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    sizes = tuple(size for size in TOKENS if size <= options.most) or (options.most,)
    rows = []
    for way in WAYS:
        if sys.stderr.isatty():
            print(f"\r{way.exercise} {way.name} …".ljust(LINE), end="\r", file=sys.stderr, flush=True)
        rows.append(measured(way, *chosen_module(way), sizes, options.seconds, options.mib))
    print("\n".join(table(rows, sizes)))


if __name__ == "__main__":
    main()
