"""Reads the names that platforms give to files and folders: whose each one is."""

import re
from dataclasses import dataclass
from datetime import datetime

# "First Last_123456_assignsubmission_file_" and, without folders, "…_assignsubmission_file_name.zip"
MOODLE = re.compile(r"(?P<name>[^/]*?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)_?(?P<rest>.*)", re.S)
# "lastfirst_12345_67890_name.py", late ones "lastfirst_LATE_12345_67890_name.py"
CANVAS = re.compile(r"(?P<name>[^_/]+)(?P<late>_LATE)?_(?P<id>\d+)_\d+_(?P<rest>.+)", re.S)
GRADESCOPE = re.compile(r"submission_(\d+)")
# When a folder of Gradescope's export was handed in, as Ruby writes a time: "2026-11-20 21:10:26.409000000 Z"
CREATED = re.compile(
    r"""  :created_at:\s*['"]?(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d*)?\s*(Z|UTC|[+-]\d\d:?\d\d|)['"]?\s*"""
)
# The platforms' marks in a name. The name of a student or of a file may hold such a mark too.
MOODLE_MARKS = re.compile(r"(?=_(\d+)_assignsubmission_[a-z])")
CANVAS_MARKS = re.compile(r"(?=_(\d+)_\d{3,}_)")  # a shorter second number is an exercise's: "_9001_03_context_…"


@dataclass(frozen=True)
class Owner:
    """The student whom the name of an entry names. rest: the name that the student gave the file ("" for a folder)."""

    key: str  # what the platform calls the student
    name: str
    rest: str
    platform: str
    kind: str = "file"  # or another kind of Moodle's: "onlinetext"
    late: bool = False


def owner_of(name: str) -> Owner | None:
    """The student in a name that Moodle or Canvas made; None for other names."""
    if match := MOODLE.fullmatch(name):
        return Owner(match["id"], match["name"].strip(), match["rest"], "Moodle", match["kind"])
    if match := CANVAS.fullmatch(name):
        return Owner(match["id"], match["name"].strip(), match["rest"], "Canvas", late=bool(match["late"]))
    return None


def possible_owners(name: str) -> tuple[str, ...]:
    """The keys of all students whom a platform's name could mean. There are several where a student added a mark."""
    keys = MOODLE_MARKS.findall(name)
    if canvas := CANVAS.fullmatch(name):
        keys += [canvas["id"], *CANVAS_MARKS.findall(name)]
    return tuple(dict.fromkeys(keys))


def submitters_of(text: str) -> dict[str, list[tuple[str, str]]]:
    """Gradescope's submission_metadata.yml: by folder, the key and name of everybody who handed it in."""
    by_folder: dict[str, list[dict[str, str]]] = {}
    people: list[dict[str, str]] | None = None
    inside = False
    for line in text.split("\n"):
        if top := re.fullmatch(r"['\"]?(submission_\w+)['\"]?:\s*", line):
            people, inside = by_folder.setdefault(top[1], []), False
        elif section := re.fullmatch(r"  (:?\w+):.*", line):
            inside = section[1] == ":submitters"
        elif people is not None and inside and (fact := re.fullmatch(r"\s+(- )?:(name|sid|email): *(.*)", line)):
            if fact[1] or not people:
                people.append({})
            people[-1][fact[2]] = fact[3].strip().strip("'\"")
    return {
        folder: [(person.get("sid") or person.get("email") or folder, person.get("name", "")) for person in people]
        for folder, people in by_folder.items()
        if people
    }


def times_of(text: str) -> dict[str, datetime]:
    """The time at which each folder of Gradescope's export was handed in, by the same file; UTC without a zone."""
    times: dict[str, datetime] = {}
    folder = ""
    for line in text.split("\n"):
        if top := re.fullmatch(r"['\"]?(submission_\w+)['\"]?:\s*", line):
            folder = top[1]
        elif folder and folder not in times and (created := CREATED.fullmatch(line)):
            zone = "+0000" if created[3] in ("", "Z", "UTC") else created[3].replace(":", "")
            try:
                times[folder] = datetime.strptime(f"{created[1]} {created[2]} {zone}", "%Y-%m-%d %H:%M:%S %z")
            except ValueError:
                continue
    return times
