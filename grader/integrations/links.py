"""Links of our Markdown, made to fit where a text is shown: as a page of the site, or as a notebook in a course."""

import os
import re
from pathlib import Path, PurePosixPath

# A link; or code, in which nothing is a link.
LINK = re.compile(
    r"^```.*?^```"
    r"|(?<!!)\[(?P<words>`[^`\n]+`|[^\]\n`]+)\]\((?!https?:|mailto:|#)(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)"
    r"|`(?:[^`\n]|\n(?!\n))+`",
    re.M | re.S,
)


def fitted(text: str, path: Path, page: str, places: dict[Path, str]) -> str:
    """The text with links to what is shown there. A link to any other file becomes its name.

    path: the file of the text; page: its place there; places: file → its place there.
    """

    def fitting(match: re.Match[str]) -> str:
        """One link as it must be there."""
        if match["target"] is None:
            return match[0]
        target = places.get((path.parent / match["target"]).resolve())
        if target is None:
            return f"`{match['words'].strip('`')}`"
        relative = PurePosixPath(os.path.relpath(target, PurePosixPath(page).parent))
        return f"[{match['words']}]({relative}{match['anchor'] or ''})"

    return LINK.sub(fitting, text)
