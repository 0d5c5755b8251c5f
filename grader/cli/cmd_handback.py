"""Hand feedback back as a platform takes it: archives for Moodle or Canvas, or a folder with pages."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from grader.catalog import errors
from grader.catalog.errors import WrongUse
from grader.cli.cmd_grade import LEVELS
from grader.records import whole_file
from grader.records.sanitize import label

PLATFORMS = ("moodle", "canvas", "folder")
NEXT = {
    "moodle": "In each assignment: Submissions, Actions, Upload multiple feedback files in a zip.",
    "canvas": "In each assignment: Upload submissions (once: every upload adds a comment).",
    "folder": "One page a student, under the id that grades.csv has.",
}
MOST = 5  # names of students without a file


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("platform", metavar="PLATFORM", choices=PLATFORMS, help=", ".join(PLATFORMS))
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("results"), help="results; default: results")
    parser.add_argument("--rules", metavar="FILE", type=Path, help="default: course.toml, where there is one")
    parser.add_argument("--roster", metavar="FILE", type=Path, help="as for grade")
    parser.add_argument("--release", action="store_true", help="hand back now, whatever course.toml says")
    parser.add_argument("--feedback", choices=LEVELS, help="how much is told; default: as course.toml or the last run")
    parser.add_argument("--output", metavar="DIR", type=Path, help="default: handback/ in the results")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns exit code 3 where a student who handed in gets nothing."""
    from grader.cli.grade_class import office_of

    office = office_of(options)
    from grader.classroom import private
    from grader.classroom.handback import released

    released.demand(office.course, options.release)
    all_handed = list(released.read(options.out, office))
    exercises, level = released.exercises(all_handed), released.level(options.out, office.course, options.feedback)
    folder = (options.output or options.out / released.FOLDER) / options.platform
    try:
        assignments = released.assignments(office.course, all_handed)
        missing = write(options.platform, folder, all_handed, exercises, level, assignments)
        private.everything(options.output or folder.parent)
    except OSError as error:
        raise WrongUse(f"{error.filename} cannot be written: {error.strerror}. Another folder: OUTPUT=dir") from None
    print(NEXT[options.platform])
    for exercise, students in missing.items():
        names = ", ".join(map(label, students[:MOST])) + (f" and {len(students) - MOST} more" * (len(students) > MOST))
        print(f"{exercise}: no file of {options.platform}'s is known of {names}. Hand theirs back by PLATFORM=folder")
    return errors.NOT_DONE if missing else errors.PASSED


def write(
    platform: str,
    folder: Path,
    all_handed: Sequence,
    exercises: Sequence[str],
    level: str,
    assignments: Sequence,
) -> dict[str, list[str]]:
    """Write the files to hand back. Returns the students without a file, by assignment. Raises OSError."""
    from grader.classroom.handback import canvas_feedback, moodle_feedback, plain_folder

    folder.mkdir(parents=True, exist_ok=True)
    if platform == "folder":
        for file in plain_folder.files(all_handed, exercises, level):
            path = folder / file.name
            path.parent.mkdir(exist_ok=True)
            whole_file.write(path, file.content)
        print(f"{folder}: {len(all_handed)} pages")
        return {}
    module = {"moodle": moodle_feedback, "canvas": canvas_feedback}[platform]
    missing: dict[str, list[str]] = {}
    for assignment in assignments:
        parts = [part for handed in all_handed if (part := handed.alone(assignment))]
        files = [file for part in parts if (file := module.file_of(part, assignment, level))]
        others = [part.student.id for part in parts if part.origin.platform != module.PLATFORM]
        if others:
            missing[assignment.name] = others
        if files:
            whole_file.write(folder / f"{assignment.name}.zip", canvas_feedback.zipped(files))
            print(f"{folder / assignment.name}.zip: {len(files)} files")
    return missing
