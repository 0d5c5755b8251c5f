"""Measures the processor time that this process spends on each part of its work."""

import contextlib
import time
from collections.abc import Iterator

START = "start"


class OwnTime:
    """The processor time of this process, with all its threads, by the part of the work; it begins with START.

    Parts do not overlap: within a part that is entered, the one around it rests.
    """

    def __init__(self) -> None:
        self.name, self.since = START, 0.0
        self._seconds: dict[str, float] = {}

    @property
    def seconds(self) -> dict[str, float]:
        """The seconds of each part so far."""
        self.go_on_with(self.name)
        return dict(self._seconds)

    def go_on_with(self, name: str) -> None:
        """From now on count for this part."""
        processor_time = time.process_time()
        self._seconds[self.name] = self._seconds.get(self.name, 0.0) + processor_time - self.since
        self.name, self.since = name, processor_time

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count for this part within the block."""
        around = self.name
        self.go_on_with(name)
        try:
            yield
        finally:
            self.go_on_with(around)


own_time = OwnTime()  # of this process, as there is one processor clock for all of it
