"""The shape of a worker's replies: what the grader relies on is checked here, in one place.

The executor writes them, but it lives in the learner's process, where code can write anything.
"""

from grader.worker import wire
from grader.worker.wire import ProtocolError

MAX_TEXT = 20_000  # characters of one text


def opened(body: bytes | bytearray) -> tuple[dict, list]:
    """The reply in one body, checked, and its tensors. Raises ProtocolError."""
    reply, raw = wire.decode(body)
    return checked(reply), raw


def checked(reply: dict) -> dict:
    """The reply, if every part of it has the type that it must have. Raises ProtocolError.

    "value" is left to the Decoder, which is as strict.
    """
    for key, part in reply.items():
        if key != "value" and (key not in SHAPES or not SHAPES[key](part)):
            raise ProtocolError("a part of the reply is none of ours")
    return reply


def _text(part) -> bool:
    return type(part) is str and len(part) <= MAX_TEXT


def _texts(part) -> bool:
    return type(part) is list and len(part) <= 1000 and all(map(_text, part))


def _hits(part) -> bool:
    """[operation, line] of each forbidden operation."""
    return _rows(part, (_text, _line))


def _misshapen(part) -> bool:
    """[name, shape it has, shape it was given] of parameters."""
    return _rows(part, (_text, _shape, _shape))


def _error(part) -> bool:
    """An exception: see Executor.explain."""
    wanted = {"type": _text, "bases": _texts, "message": _text, "missing_module": _text_or_none, "frames": _frames}
    return type(part) is dict and part.keys() == wanted.keys() and all(wanted[key](part[key]) for key in wanted)


def _frames(part) -> bool:
    """[line, function, the line's text] of the learner's own lines."""
    return _rows(part, (_line, _text, _text))


def _text_or_none(part) -> bool:
    return part is None or _text(part)


def _line(part) -> bool:
    return type(part) is int and 0 <= part < 1 << 31


def _shape(part) -> bool:
    return type(part) is list and len(part) <= 16 and all(type(size) is int and 0 <= size < 1 << 40 for size in part)


def _rows(part, columns: tuple) -> bool:
    return type(part) is list and len(part) <= 1000 and all(_row(row, columns) for row in part)


def _row(row, columns: tuple) -> bool:
    return type(row) is list and len(row) == len(columns) and all(fits(cell) for fits, cell in zip(columns, row))


SHAPES = {
    "error": _error, "names": _texts, "missing": _text, "signature": _text, "gradient": _text, "banned": _hits,
    "unknown": _texts, "misshapen": _misshapen, "surplus": _texts, "output": _text,
}  # fmt: skip
