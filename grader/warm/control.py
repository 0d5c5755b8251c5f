"""Asks the warm process of this checkout how it is."""

from grader.catalog import paths
from grader.warm import client, message


def status() -> tuple[int, int] | None:
    """The id of the warm process of this checkout, and how many commands it was given; None where none answers."""
    try:
        with client.ask(str(paths.DESK), message.STATUS, []) as connection:
            return message.peer(connection) or 0, message.receive(connection)["commands"]
    except (OSError, ValueError, KeyError):
        return None
