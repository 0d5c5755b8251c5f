"""The output forms of a result, each a pure function of plain data, and `deliver`, which writes one to a file."""

import sys
from pathlib import Path

from grader.records import safe_files


def deliver(text: str, path: Path | None = None) -> bool:
    """Write a report to a file, or to standard output where no file is named or it cannot be written.

    Returns whether the report is where it was requested; otherwise stderr says why. A character that UTF-8 cannot
    encode, as in the name of a file, is escaped: "\\udcff".
    """
    data = text.encode("utf-8", "backslashreplace")
    if path is not None:
        try:
            if path.is_relative_to("/dev"):  # /dev/stdout, a pipe of the shell's
                path.write_bytes(data)
            else:
                safe_files.write_whole(path, data)
            return True
        except (OSError, ValueError) as error:  # ValueError: the name cannot be one of a file
            name = str(path).encode("utf-8", "backslashreplace").decode()
            reason = getattr(error, "strerror", None) or error
            print(f"{name} cannot be written: {reason}. The report is on standard output.", file=sys.stderr)
    sys.stdout.write(data.decode())
    return path is None
