"""Earlier submissions to Classroom 50: the tags that its runner puts on each, submit/<UTC time>-<commit>.

Nothing is kept between two runs of an autograder there. So which submissions were graded follows from the times of all
tags and the rule, and the mark of the last graded one from its files, which are graded again.
"""

import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from grader.classroom.brake import Brake

TAG = re.compile(r"submit/(\d{4})\D?(\d\d)\D?(\d\d)\D?(\d\d)\D?(\d\d)\D?(\d\d)\D.*")
FETCH_S, GIT_S = 60, 30  # seconds that git may take
MAX_TREE = 200 << 20  # bytes of a submission's files
GIT = ("git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")


@dataclass(frozen=True)
class Verdict:
    """What the brake says of the present submission.

    held: why it is not graded, for the student, or ""; last: the tag of the last graded submission, whose mark stays;
    standing: which graded attempt this is, in words.
    """

    held: str = ""
    last: str = ""
    standing: str = ""


def verdict(checkout: Path, brake: Brake, tag: str, now: datetime) -> Verdict:
    """What the brake says. tag: of the present submission; now: its time where the tag tells none.

    Where the tags cannot be read, nothing is known of earlier submissions, and this one is graded.
    """
    _git(checkout, "fetch", "--quiet", "--tags", "origin", seconds=FETCH_S)
    times = {name: time for name in _git(checkout, "tag", "--list", "submit/*").split() if (time := time_of(name))}
    present = time_of(tag) or now
    earlier = sorted((name for name, time in times.items() if name != tag and time <= present), key=lambda n: times[n])
    graded = [earlier[index] for index in brake.graded([times[name] for name in earlier])]
    held = brake.held([times[name] for name in graded], present)
    if held:
        return Verdict(held, graded[-1])
    return Verdict(standing=brake.standing([*(times[name] for name in graded), present]))


def time_of(tag: str) -> datetime | None:
    """The time in a tag's name; None where there is none."""
    match = TAG.fullmatch(tag)
    try:
        return datetime(*map(int, match.groups()), tzinfo=timezone.utc) if match else None
    except ValueError:
        return None


@contextmanager
def files_of(checkout: Path, tag: str) -> Iterator[Path | None]:
    """A folder with the files of an earlier submission; None where they cannot be had."""
    with tempfile.TemporaryDirectory(prefix="kata-earlier-") as folder, tempfile.TemporaryFile() as packed:
        command = [*GIT, "-C", str(checkout), "archive", "--format=tar", f"refs/tags/{tag}"]
        try:
            done = subprocess.run(command, stdout=packed, stderr=subprocess.DEVNULL, timeout=GIT_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            done = None
        if done is None or done.returncode or packed.tell() > MAX_TREE:
            yield None
            return
        packed.seek(0)
        with tarfile.open(fileobj=packed) as archive:
            for member in archive:
                target = Path(folder, member.name).resolve()
                if member.isfile() and target.is_relative_to(Path(folder).resolve()):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    content = archive.extractfile(member)
                    target.write_bytes(content.read() if content else b"")
        yield Path(folder)


def _git(checkout: Path, *words: str, seconds: float = GIT_S) -> str:
    """What a command of git prints; "" where it fails."""
    try:
        done = subprocess.run(
            [*GIT, "-C", str(checkout), *words], capture_output=True, text=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
