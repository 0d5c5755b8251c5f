"""What was asked and what came of it: one class records requests and replies, and answers from them again."""


class Stop(Exception):
    """Ends a check early; it is handed on as the check's error."""


class Diverged(Stop):
    """Another request came than the one that was recorded: the check is run again, one request after the other."""


class Differs(Stop):
    """Another answer came than in the run that is followed: the two sources do not have the same mistake."""


class Transcript:
    """The encoded requests of one check in their order, and the encoded reply (or the error) that each one got.

    It is recorded once. Read from the start it gives the replies, as long as the same is asked.
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
        """The reply to the next request. Raises Diverged where it is another one, or the error that came of it."""
        if self.is_read or self.requests[self.position] != request:
            raise Diverged
        reply = self.replies[self.position]
        self.position += 1
        if isinstance(reply, Exception):
            raise reply
        return reply

    def until_here(self) -> "Transcript":
        """What was read so far, to go on from."""
        done = Transcript(self.requests[: self.position], self.replies[: self.position])
        done.position = self.position
        return done

    def rewind(self) -> None:
        """Read it from the start again."""
        self.position = 0
