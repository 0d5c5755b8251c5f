"""Reads a worker's replies: they are checked, and words that untrusted code could have invented are removed.

Code in the worker's process can write anything into a reply, a hidden input for example. So names and lines of code are
taken from the source, and a path of this machine is left out.
"""

import builtins
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from grader.catalog import paths
from grader.records.source import SourceWords
from grader.records.submission import Submission
from grader.worker import protocol
from grader.worker.protocol import Reply
from grader.worker.submitted_source import MAX_FRAMES
from grader.worker.wire import RawTensor

# The paths of the grader. A warning or a traceback that the learner's code prints may contain them.
OUR_PATHS = sorted({str(paths.ROOT), sys.prefix, str(Path.home())} - {"/", "/usr", "/usr/local"}, key=len, reverse=True)

INTERNALS = re.compile(r" ?\(Triggered internally at [^()\n]*\)")  # torch tells so of each of its warnings


class ReplyReader:
    """Reads the replies about one submission.

    names: what the source defined when it was loaded; None until then.
    """

    def __init__(self, submission: Submission):
        self.words, self.lines = SourceWords(submission.source), submission.source.splitlines()
        self.names: list[str] | None = None

    def read(self, body: bytes | bytearray) -> tuple[Reply, list[RawTensor]]:
        """The reply in a body, and its tensors. Raises wire.ProtocolError."""
        reply, tensors = protocol.decode_reply(body)
        reply.output = without_paths(reply.output)
        if reply.error:
            reply.error = self._in_own_words(reply.error)
        for row in reply.left_out or ():
            row[2] = self._in_own_words(row[2])
        if reply.names is not None:  # those of the loading: a later reply could hold a hidden input
            names = reply.names if self.names is None else self.names
            reply.names = [name for name in names if self.words.confirmed(name)]
        return reply, tensors

    def _in_own_words(self, error: dict[str, Any]) -> dict[str, Any]:
        """An exception whose names and lines are those of the source; see protocol.Reply.error for its keys."""
        frames = []
        for line, _, _ in error["frames"][:MAX_FRAMES]:
            if self.words.runs(line) and line <= len(self.lines):
                frames.append([line, self.words.function_at(line), self.lines[line - 1].strip()[:200]])
        return {
            **error,
            "frames": frames,
            "type": self.words.class_of(error["type"], builtins, torch, torch.linalg, metadata) or "Exception",
            "missing_module": self.words.confirmed(error["missing_module"] or "") or None,
            "message": without_paths(error["message"]),
        }


def without_paths(text: str) -> str:
    """A text from the worker, with "…" in the place of the grader's paths, and without those of torch's sources."""
    for path in OUR_PATHS:
        text = text.replace(path, "…")
    return INTERNALS.sub("", text)
