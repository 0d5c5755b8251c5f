"""The situations of golden.toml, with their files, for the tests that need a file as somebody hands it in."""

import atexit
import functools
import shutil
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import sources

from grader.catalog.project import read_toml

SITUATIONS = read_toml(Path(__file__).parent / "golden.toml")
WEIGHTS = "    return torch.softmax(inputs @ inputs.T, dim=-1)\n"
RIGHT = f"""import torch


def attention_weights(inputs):
{WEIGHTS}

def context_vector(inputs, query_index):
    return attention_weights(inputs)[query_index] @ inputs


def context_vectors(inputs):
    return attention_weights(inputs) @ inputs
"""


@functools.cache
def file(name: str) -> Path:
    """The file of a situation, in a folder of its own."""
    situation = SITUATIONS[name]
    path = _folder() / name / situation.get("file", "submission.py")
    path.parent.mkdir()
    path.write_bytes(_source(situation).encode(situation.get("encoding", "utf-8")))
    return path


def _source(situation: dict[str, Any]) -> str:
    default = sources.solution(situation["exercise"]) if "exercise" in situation else RIGHT
    source = situation.get("source", default)
    if "weights" in situation:
        source = source.replace(WEIGHTS, textwrap.indent(situation["weights"], "    ") + "\n")
    for old, new in situation.get("change", ()):
        assert old in source, old
        source = source.replace(old, new)
    return situation.get("before", "") + source + situation.get("after", "")


@functools.cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="kata-situations-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
