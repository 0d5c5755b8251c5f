"""Tests for the fields of a reply. Code in the worker's process can write anything, so each field is checked."""

MAX_TEXT = 20_000  # characters of one text
MAX_ROWS = 1_000  # items of one list
MAX_OPERATIONS = 8_000  # operations in one record
MAX_SHAPES = 16  # shapes of the input tensors, or of the output tensors, of one operation


def _is_text(value) -> bool:
    return type(value) is str and len(value) <= MAX_TEXT


def _is_texts(value) -> bool:
    return type(value) is list and len(value) <= MAX_ROWS and all(map(_is_text, value))


def _is_text_or_none(value) -> bool:
    return value is None or _is_text(value)


def _is_flag(value) -> bool:
    return type(value) is bool


def _is_line(value) -> bool:
    return type(value) is int and 0 <= value < 1 << 31


def _is_seconds(value) -> bool:
    return type(value) is float and 0.0 <= value < 1e6


def _is_shape(value) -> bool:
    return type(value) is list and len(value) <= 16 and all(type(size) is int and 0 <= size < 1 << 40 for size in value)


def _is_size(value) -> bool:
    return type(value) is int and 0 <= value < 1 << 40


def _is_shapes(value) -> bool:
    return type(value) is list and len(value) <= MAX_SHAPES and all(map(_is_shape, value))


def _is_rows(*columns, max_rows: int = MAX_ROWS):
    """A test for lists of at most `max_rows` rows. columns: a test for the cells of each column."""

    def is_row(row) -> bool:
        return (
            type(row) is list
            and len(row) == len(columns)
            and all(is_valid(cell) for is_valid, cell in zip(columns, row))
        )

    return lambda value: type(value) is list and len(value) <= max_rows and all(map(is_row, value))


ERROR = {
    "type": _is_text, "bases": _is_texts, "message": _is_text, "missing_module": _is_text_or_none,
    "frames": _is_rows(_is_line, _is_text, _is_text),
}  # fmt: skip


def _is_error(value) -> bool:
    return type(value) is dict and value.keys() == ERROR.keys() and all(ERROR[name](value[name]) for name in ERROR)


FIELDS = {
    "output": _is_text, "error": _is_error, "missing": _is_text, "names": _is_texts, "signature": _is_text,
    "gradient": _is_text, "hits": _is_rows(_is_text, _is_line), "computed": _is_flag,
    "operations": _is_rows(_is_text, _is_shapes, _is_shapes, max_rows=MAX_OPERATIONS), "unrecorded": _is_text,
    "launches": _is_rows(_is_text, _is_shape, _is_size, _is_size, _is_rows(_is_line, _is_text, _is_size)),
    "touched": _is_rows(_is_line, _is_line, _is_text, _is_text, _is_size, _is_shape, _is_shape),
    "unknown": _is_texts,
    "misshapen": _is_rows(_is_text, _is_shape, _is_shape), "surplus": _is_texts,
    "left_out": _is_rows(_is_line, _is_seconds, _is_error),
}  # fmt: skip
