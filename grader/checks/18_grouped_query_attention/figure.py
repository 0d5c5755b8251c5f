"""The figure: a layer 512 wide with 8 heads, whose parameters the lesson counts, and the cache of a large model."""

from grader.authors import Curves, Figure, Start, in_bytes

LARGE = {"layers": 32, "heads": 32, "head_size": 128, "bytes": 2}
HEADS, GROUPS = 8, 2  # of queries; of keys and values, shown first


def data(documented):
    """Sizes alone."""
    return {"width": 512, "heads": HEADS, "large": LARGE}


def cache():
    """The bytes of the large model's cache over the number of tokens, for three ways of sharing."""
    lengths = [2**power for power in range(10, 18)]
    each = 2 * LARGE["layers"] * LARGE["heads"] // HEADS * LARGE["head_size"] * LARGE["bytes"]
    groups = {f"{GROUPS} of {HEADS}": GROUPS, "no sharing": HEADS, "one for all": 1}
    curves = {name: [each * one * length for length in lengths] for name, one in groups.items()}
    axes = {"x_label": "tokens", "at": 2**13, "log": True, "log_x": True, "base": 8, "tick": in_bytes}
    return [Curves("Cache over the number of tokens", lengths, curves, **axes)]


FIGURE = Figure(
    "The parameters of a layer whose 8 heads share 2 heads of keys and values.",
    data,
    {"parameters of one layer": Start("grouped_query")},
    cache,
)
