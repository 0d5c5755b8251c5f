"""Collects what a learner's code prints: the first characters are kept, and the others are only counted."""

import io

MAX_OUTPUT = 10_000  # printed characters that are kept


class Output(io.TextIOBase):
    """A text stream that keeps the first `room` characters of what is written to it and counts the others."""

    def __init__(self):
        self.parts, self.room, self.lost = [], MAX_OUTPUT, 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        """Keep or count the characters of a text. Returns how many they are."""
        kept_text = text[: self.room]
        if kept_text:
            self.parts.append(kept_text)
            self.room -= len(kept_text)
        self.lost += len(text) - len(kept_text)
        return len(text)

    def take(self) -> str:
        """The text printed since the last call, with a line on the number of missing characters, if any.

        The room for characters is not restored: later calls share what is left of it.
        """
        text = "".join(self.parts)
        if self.lost:
            text += f"\n… ({self.lost:,} more characters were printed)\n"
        self.parts, self.lost = [], 0
        return text.encode(errors="replace").decode()
