"""The text of a new course.toml: each rule with a comment, and without effect until it is changed."""

from grader import catalog
from grader.reports.html import LEVELS

HEAD = """\
# The rules of this course, for `make grade`, nbgrader's road (in the course's folder) and Gradescope's (RULES=…).
# They are applied to the results after grading: change one, grade again, and nothing is judged anew.
# Beside this file may stand: overrides.csv, comments.csv, comments/<student>.md, handed_in.csv, aliases.csv.

timezone = "UTC"          # of the times below, and of your Moodle profile: such as "Europe/Berlin"
# roster = "roster.csv"   # Canvas gradebook, Moodle worksheet or grade export, or id,name,… (or a folder of them)
feedback = "full"         # what students read: LEVELS
# release = 2026-12-24T12:00:00   # from when on `make handback` hands feedback back without RELEASE=yes
anonymous = false         # true: the page of the class shows pseudonyms

attempts = "latest"       # "latest": the last one before the cut-off; "best": the one with most points
drop_lowest = 0           # how many exercises, those with the smallest share of their points, do not count

[late]
per = "day"               # "day" or "hour": each one begun after the deadline costs
percent = 0               # so many percent of the points that the hand-in has,
cap = 100                 # and at most so many in all
grace_minutes = 0         # so late is not late; who is later is late from the deadline on
unknown = 1               # days or hours where a platform says LATE, but nobody knows when it came (Canvas)

[deadlines]               # a date alone is the end of that day
"""
TAIL = """
[cut_off]                 # what comes later does not count at all
# "01" = 2026-11-27

[extensions]              # by the student's id, as grades.csv has it
# "4711" = { "01" = 2026-11-24, "02" = 2026-12-01 }

[sections]                # sections or groups of the roster with times of their own
# "Monday group" = { deadlines = { "01" = 2026-11-21 }, cut_off = { "01" = 2026-11-28 } }

[weights]                 # factors of points in the total, 1 where none is named
# "01" = 2

[columns]                 # columns of the roster's file that are called otherwise: an exercise, several, or "total"
# "Homework 1 (98765)" = "01"
# "Attention (98766)" = ["03", "04", "05"]
# "Grades-CS1-Homework 1-123.csv" = "01"      # a Moodle worksheet, by the name of its file

[titles]                  # what columns of the roster's file are, where their titles are not understood
# "Matrikelnummer" = "id"                     # id, name, email, sis_id, login, section, group
# "Zuletzt geändert (Abgabe)" = "Last modified (submission)"    # Moodle's titles in English
"""


def text() -> str:
    """The file, with a line for the deadline of each exercise."""
    lines = [
        f'# "{exercise.folder[:2]}" = 2026-11-20T23:59:00    # {exercise.title}' for exercise in catalog.exercises()
    ]
    return HEAD.replace("LEVELS", ", ".join(LEVELS)) + "\n".join(lines) + "\n" + TAIL
