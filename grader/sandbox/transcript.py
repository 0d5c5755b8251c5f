"""Records the requests and replies of a check, and replays the replies to the same requests."""


class Stop(Exception):
    """Ends a check early. The check's result carries it as its error."""


class Diverged(Stop):
    """A request differs from the recorded one. The check is run again, one request after the other."""


class Differs(Stop):
    """A reply differs from the one in the recorded run: the two sources do not have the same mistake."""


class Transcript:
    """The encoded requests of one check in their order, and the encoded reply (or the error) that each one got.

    It is recorded once. Read from the start, it gives the replies as long as the requests are the same.
    """

    def __init__(self, requests: list[bytes] | None = None, replies: list[bytes | bytearray | Exception] | None = None):
        self.requests, self.replies = requests or [], replies or []
        self.position = 0  # how many exchanges have been read

    @property
    def is_read(self) -> bool:
        """Whether it holds no reply that was not read yet."""
        return self.position >= len(self.replies)

    def record(self, request: bytes, reply: bytes) -> None:
        """Add an exchange, which counts as read."""
        self.requests.append(request)
        self.replies.append(reply)
        self.position += 1

    def read(self, request: bytes) -> bytes | bytearray:
        """The reply to the next request. Raises Diverged where the request differs, or the error that was recorded."""
        if self.is_read or self.requests[self.position] != request:
            raise Diverged
        reply = self.replies[self.position]
        self.position += 1
        if isinstance(reply, Exception):
            raise reply
        return reply

    def until_here(self) -> "Transcript":
        """A transcript of the exchanges that have been read, to which further ones can be added."""
        transcript = Transcript(self.requests[: self.position], self.replies[: self.position])
        transcript.position = self.position
        return transcript

    def rewind(self) -> None:
        """Read it from the start again."""
        self.position = 0
