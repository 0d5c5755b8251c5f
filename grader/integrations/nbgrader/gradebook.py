"""Grades the submissions of an nbgrader course in parallel and records the results in the gradebook in one process.

nbgrader keeps the latest hand-in alone. So each run keeps the notebooks that it sees, in FOLDER of the course. An
earlier one that counts is laid there as `nbgrader collect` would have left it, and is recorded from there.

nbgrader has a comment for each cell that the student writes: one of the autograder, and one of a person, which is shown
instead. So a comment takes a cell without a person's, and no person's comment is ever replaced.

nbgrader's own export (grades.csv) has a line for each submission, and neither weights nor dropped results.

The late rule of course.toml is the deadline in the gradebook, and the penalty that nbgrader assigns.
"""

import contextlib
import functools
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.apps import AutogradeApp
from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Unicode

from grader import catalog
from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.classroom import arrivals, course_rules, marking, private
from grader.classroom import office as offices
from grader.classroom.arrivals import MAX_TIMESTAMP, TIMESTAMP
from grader.classroom.course_rules import Course
from grader.classroom.grades import cell, csv_text, number
from grader.classroom.handins import Graded, HandIn
from grader.classroom.history import History
from grader.classroom.intake import beneath
from grader.classroom.ledger import identity, unreadable_identity
from grader.classroom.marking import Comments, Mark, lateness, share
from grader.classroom.office import CHANGED, Office, lines_without_effect
from grader.classroom.roster import reading
from grader.classroom.store import Store
from grader.integrations.nbgrader import autograding
from grader.integrations.nbgrader.autograding import Recorded
from grader.records import safe_files
from grader.records.results import ExerciseResult
from grader.records.sanitize import label

AUTOMATIC = "No response."  # what nbgrader itself says of a cell that was not touched
TOTALS = "totals.csv"
BY_HAND, NOT_AUTOGRADED = "has cells that wait for a person's score", "is not autograded"
Words = Mapping[tuple[str, str], tuple[str, ...]]  # by student and exercise
Submissions = Mapping[str, Mapping[str, SubmittedAssignment]]  # exercise → student → submission
FOLDER, COUNTING = ".attempts", "counting"  # COUNTING: the submitted/ from which earlier attempts are recorded
DIGITS = 20  # of a digest, in the name of a folder


class CourseLateness(LateSubmissionPlugin):
    """Assigns the penalties of course.toml; where there is none, nbgrader's own.

    nbgrader asks only for who is later than the deadline in its gradebook.
    """

    rules = Unicode("course.toml", help="The file with the rules of the course").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points that a submission loses; None where it loses none. Extensions of course.toml count."""
        if not Path(self.rules).exists():
            own: float | None = super().late_submission_penalty(student_id, score, total_seconds_late)
            return own
        try:
            course = course_rules.read_rules(Path(self.rules))
        except WrongUse as error:
            self.log.error("%s", error)
            raise
        step = self.parent  # nbgrader's AssignLatePenalties, which has the gradebook open
        exercise = step.notebook_id
        if _is_set_by_hand(Path(self.rules), student_id, exercise):
            return None
        submission = step.gradebook.find_submission(step.assignment_id, student_id)
        handed_in_times = arrivals.read_handed_in(Path(self.rules).with_name(arrivals.HANDED_IN), course.zone)
        handed_in = handed_in_times.get((student_id, exercise)) or submission.timestamp.replace(tzinfo=timezone.utc)
        section = _section(course, student_id)
        deadline, end = course.deadline(student_id, section, exercise), course.last(student_id, section, exercise)
        if deadline is None and not _first_deadline(course, exercise):  # the one in the gradebook is a person's
            deadline = submission.duedate.replace(tzinfo=timezone.utc)
        late = lateness(course.late, handed_in, False, deadline, end)
        return round(score * (1 - share(course.late, late)), 6) or None


def use(app: AutogradeApp, course: Course) -> None:
    """Have these rules hold: the penalties, and the deadline in the gradebook, where the course has one.

    That is the earliest of all, since nbgrader asks for penalties from then on; each student's own is looked up then.
    """
    if course.path is not None:
        app.config.CourseLateness.rules = str(course.path.resolve())
    name = app.coursedir.assignment_id
    deadline = _first_deadline(course, name)
    if deadline is None:
        return
    with Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        assignment = gradebook.find_assignment(name)
        assignment.duedate = deadline.astimezone(timezone.utc).replace(tzinfo=None)
        gradebook.db.commit()


def _first_deadline(course: Course, exercise: str) -> datetime | None:
    """The earliest time from which a hand-in of somebody may lose points; None where the course names none."""
    times = [course.deadlines, course.cut_off, *(table for section in course.sections.values() for table in section)]
    return min((table[exercise] for table in times if exercise in table), default=None)


def _is_set_by_hand(rules: Path, student: str, exercise: str) -> bool:
    """Whether a person gave points for the whole exercise: they count as they are, however late it came."""
    overridden = marking.read_overrides(rules.with_name(marking.OVERRIDES))
    return any(
        (override.student, override.exercise, override.check) == (student, exercise, "") for override in overridden
    )


def _section(course: Course, student: str) -> str:
    """The student's section, by the roster that course.toml names; "" where there is none."""
    if course.roster is None or not course.sections:
        return ""
    changed = course.roster.stat().st_mtime_ns if course.roster.exists() else 0
    return _sections(course.roster, tuple(course.titles.items()), changed).get(student, "")


@functools.lru_cache(maxsize=1)  # nbgrader asks for one student at a time
def _sections(roster: Path, titles: tuple[tuple[str, str], ...], changed: int) -> dict[str, str]:
    """Student's id → section. titles: of its columns, in English; changed: when the file was."""
    return {person.id: person.sections for person in reading.read_roster(roster, dict(titles)).people}


def write_remarks(course: Path, app: AutogradeApp, comments: Comments) -> tuple[str, ...]:
    """Write the comments on an assignment, and take back those that are not in the files any more.

    Returns lines about students who have a person's comment in every cell.
    """
    assignment = app.coursedir.assignment_id
    texts: dict[str, str] = {}
    for (student, exercise), text in sorted(comments.items()):
        if exercise in ("", assignment):
            texts[student] = "\n\n".join(filter(None, (texts.get(student), text)))
    before = _remembered(course, assignment)
    lines = []
    with Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        for submission in gradebook.assignment_submissions(assignment):
            id = submission.student.id
            cells = [comment for notebook in submission.notebooks for comment in notebook.comments]
            for cell in cells:
                if cell.auto_comment is not None and cell.auto_comment == before.get(id):
                    cell.auto_comment = None
            free = [cell for cell in cells if cell.manual_comment is None]
            free.sort(key=lambda cell: (cell.auto_comment == AUTOMATIC, cell.name))
            if id in texts and free:
                free[0].auto_comment = texts[id]
            elif id in texts:
                lines.append(
                    f"{label(id)} {assignment}: every cell has a comment of formgrader's, so the file's is in none"
                )
        gradebook.db.commit()
    _remember(course, assignment, texts)
    return tuple(lines)


def totals_table(course: Path, office: Office, db_url: str | None = None) -> str:
    """The file: a row for each student who is in the gradebook or handed in, a column for each exercise.

    Points are nbgrader's, after its penalties; a cell is empty where nothing was handed in, where scores are missing,
    and where a hand-in could not be graded; in the last two cases so is the total.
    """
    app = autograding.open_app(course, "", db_url)
    directory = app.coursedir
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        folders = {exercise.folder for exercise in catalog.exercises()}
        max_points = {
            assignment.name: float(assignment.max_score)
            for assignment in gradebook.assignments
            if assignment.name in folders
        }
        handed_in = {
            name: {handin.student.id: handin for handin in gradebook.assignment_submissions(name)}
            for name in max_points
        }
        names = {
            student.id: " ".join(filter(None, (student.first_name, student.last_name)))
            for student in gradebook.students
        }
        remarks = words_of_attempt(course, max_points)
        refused = {
            (id, name): reason for name in max_points for id, reason in autograding.refused_of(app, name).items()
        }
        names = {id: "" for id, _ in refused} | names
        return csv_text(_rows(office, dict(sorted(max_points.items())), handed_in, names, remarks, refused))


@dataclass(frozen=True)
class Chosen:
    """The marks of an assignment, by student. earlier: of whom an earlier attempt counts."""

    marks: Mapping[str, Mark]
    earlier: frozenset[str] = frozenset()


def choose_attempts(
    course: Path, office: Office, handins: Sequence[HandIn], results: Mapping[str, ExerciseResult]
) -> Chosen:
    """The attempts that count, of students whose latest hand-in has a result. Raises OSError.

    handins: the latest ones, which are kept where an earlier one may count; results: theirs, by student.
    """
    file = Store(course)
    try:
        history = History(file)
        marks, earlier_chosen = {}, set()
        for handin in handins:
            id, exercise = handin.student.id, handin.exercise
            if id not in results:
                continue
            own_overrides = [
                override for override in office.overrides if (override.student, override.exercise) == (id, exercise)
            ]
            student_office = replace(office, overrides=tuple(own_overrides))
            marks[id] = offices.marks_of(student_office, file, history, handin.student, [results[id]])[exercise]
            tried = history.of(id).get(exercise, [])
            if office.keeps_attempts and tried:
                _keep(_place(course, exercise, id, tried[-1].digest), handin)
            if marks[id].is_earlier and _place(course, exercise, id, marks[id].digest).is_dir():
                earlier_chosen.add(id)
        private.everything(course / FOLDER)
        return Chosen(marks, frozenset(earlier_chosen))
    finally:
        file.close()


def not_recorded(course: Path, app: AutogradeApp, chosen: Chosen) -> set[str]:
    """The students whose attempt that counts is not the one that the gradebook has."""
    directory, assignment = app.coursedir, app.coursedir.assignment_id
    recorded, folders = _facts(course, assignment), autograding.folders(app)
    found = set()
    for id, mark in chosen.marks.items():
        graded = directory.format_path(directory.autograded_directory, id, assignment)
        place = str(_place(course, assignment, id, mark.digest)) if id in chosen.earlier else folders[id]
        is_same = recorded.get(id, {}).get("digest") == mark.digest and os.path.isdir(graded)
        times = [directory.get_existing_timestamp(folder) for folder in (graded, place) if os.path.isdir(folder)]
        if not is_same or len(set(times)) > 1:  # the second: nbgrader's own autograde has recorded another one since
            found.add(id)
    return found


def lay_attempts(course: Path, assignment: str, chosen: Chosen, students: Iterable[str]) -> None:
    """Lay the earlier attempts that count where they are recorded from. Raises OSError."""
    counting = course / FOLDER / COUNTING
    shutil.rmtree(counting, ignore_errors=True)
    for id in students:
        shutil.copytree(_place(course, assignment, id, chosen.marks[id].digest), counting / id / assignment)


def note_attempts(course: Path, assignment: str, chosen: Chosen, students: Iterable[str]) -> None:
    """Remember which attempts the gradebook has now."""
    file = Store(course)
    try:
        facts = file.fact(f"recorded {assignment}", {})
        for id in students:
            mark = chosen.marks[id]
            facts[id] = {"digest": mark.digest, "words": [word for word in mark.notes if word != offices.CHANGED]}
        file.note(f"recorded {assignment}", facts)
    finally:
        file.close()


def words_of_attempt(course: Path, assignments: Iterable[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """The remarks on recorded attempts, by student and assignment."""
    return {
        (id, assignment): tuple(fact["words"])
        for assignment in assignments
        for id, fact in _facts(course, assignment).items()
    }


def grade_course(
    course: Path,
    assignment: str,
    grade: Callable[[list[HandIn]], Iterable[Graded]],
    force: bool = False,
    db_url: str | None = None,
    office: Office | None = None,
    now: datetime | None = None,
) -> Recorded:
    """Grade with `grade` what nbgrader's autograde would grade now, and record the results.

    force: grade again what has been autograded; db_url: another database than the course's; office: the rules of the
    course, whose deadline goes into the gradebook, overrides into the scores and comments to the cells,
    also of what has been autograded; now: the time of this run, from which a brake counts. Raises WrongUse where there
    is no such course or assignment.
    """
    app = autograding.open_app(course, assignment, db_url)
    if office is None:
        handins = autograding.waiting(app, force)
        results = {graded.student.id: graded.result for graded in grade(handins)} if handins else {}
        recorded = autograding.record(app, results)
    else:
        use(app, office.course)
        by_hand = office.set_by_hand(assignment)
        handins = autograding.waiting(app, force or office.keeps_attempts, by_hand)
        attempts = _braked(course, office, assignment, handins, now or datetime.now(timezone.utc))
        handins = [handin for handin in handins if handin.student.id not in attempts.held]
        results = {graded.student.id: graded.result for graded in grade(handins)} if handins else {}
        counted = {id: times for id, times in attempts.graded.items() if id in results}
        office = _with_words(office, assignment, _note_graded(course, assignment, counted), attempts.held)
        chosen = choose_attempts(course, office, handins, results)
        again = set(chosen.marks) if force or not office.keeps_attempts else not_recorded(course, app, chosen) | by_hand
        recorded = _record_chosen(course, app, office, chosen, sorted(again & set(chosen.marks)), db_url)
        notes = (
            *write_remarks(course, app, office.comments),
            *lines_without_effect(office, _everybody(app), [assignment]),
        )
        recorded = replace(recorded, notes=(*recorded.notes, *notes), held=tuple(sorted(attempts.held)))
    students = [handin.student.id for handin in handins]
    missing = {student: "it was not graded" for student in students if student not in results}
    return replace(recorded, failed=missing | dict(recorded.failed) | autograding.refused(app))


@dataclass(frozen=True)
class Attempts:
    """What a brake says of a run, by student. held: why a hand-in is not graded now; graded: [time, digest] of those
    that were, with this run's.
    """

    held: Mapping[str, str]
    graded: Mapping[str, list[list[str]]]


def _braked(course: Path, office: Office, assignment: str, handins: Sequence[HandIn], now: datetime) -> Attempts:
    """What the brake of the course says of these hand-ins. A hand-in that was graded before is no further attempt.

    Feedback comes from runs, so it is from one run to the next that a student waits, and not from hand-in to hand-in.
    """
    if not office.course.brake:
        return Attempts({}, {})
    file = Store(course)
    try:
        earlier: dict[str, list[list[str]]] = file.fact(f"graded {assignment}", {})
    finally:
        file.close()
    held, graded = {}, {}
    for handin in handins:
        id, digest = handin.student.id, _digest(handin)
        before = earlier.get(id, [])
        if digest in [known for _, known in before]:
            graded[id] = before
        elif reason := office.course.brake.held([datetime.fromisoformat(time) for time, _ in before], now):
            held[id] = reason
        else:
            graded[id] = [*before, [now.isoformat(), digest]]
    return Attempts(held, graded)


def _digest(handin: HandIn) -> str:
    """What makes a hand-in the same as another one."""
    try:
        return identity(handin.read())
    except (BadSubmission, NoSuchFile) as error:
        return unreadable_identity(handin, str(error))


def _note_graded(course: Path, assignment: str, graded: Mapping[str, list[list[str]]]) -> dict[str, list[list[str]]]:
    """Remember when attempts were graded. Returns it of all students."""
    file = Store(course)
    try:
        everybody = {**file.fact(f"graded {assignment}", {}), **graded}
        if graded:
            file.note(f"graded {assignment}", everybody)
        return everybody
    finally:
        file.close()


def _with_words(
    office: Office, assignment: str, graded: Mapping[str, list[list[str]]], held: Mapping[str, str]
) -> Office:
    """The office, with what students read about the brake among the comments."""
    brake = office.course.brake
    if not brake:
        return office
    words = {id: brake.standing([datetime.fromisoformat(time) for time, _ in times]) for id, times in graded.items()}
    words |= held
    comments = dict(office.comments)
    for id, text in words.items():
        comments[id, assignment] = "\n\n".join(filter(None, (comments.get((id, assignment)), text)))
    return replace(office, comments=comments)


def _remembered(course: Path, assignment: str) -> dict[str, str]:
    """The comments that were written last."""
    file = Store(course)
    try:
        return file.fact(f"commented {assignment}", {})
    finally:
        file.close()


def _remember(course: Path, assignment: str, texts: dict[str, str]) -> None:
    file = Store(course)
    try:
        file.note(f"commented {assignment}", texts)
    finally:
        file.close()


def _rows(
    office: Office,
    max_points: Mapping[str, float],
    handed_in: Submissions,
    names: Mapping[str, str],
    remarks: Words,
    refused: Mapping[tuple[str, str], str],
) -> Iterator[list[str]]:
    """The rows, the titles first.

    max_points: of each exercise in the gradebook; remarks: of attempts that count; refused: why a hand-in could not be
    graded, by student and exercise.
    """
    exercises = list(max_points)
    maximum = marking.maximum(exercises, list(max_points.values()), office.rule)
    yield ["student", "name", *exercises, "total", "max", "late", "note"]
    for student, name in sorted(names.items()):
        own_handins = {
            exercise: handed_in[exercise][student] for exercise in exercises if student in handed_in[exercise]
        }
        waits = {exercise: reason for exercise, handin in own_handins.items() if (reason := _unfinished(handin))}
        own_overrides = [
            override for override in office.overrides if override.student == student and override.exercise in max_points
        ]
        # An override counts without a submission too.
        by_hand = {override.exercise: override.points for override in own_overrides if not override.check}
        waits |= {
            exercise: refused[student, exercise]
            for exercise in exercises
            if (student, exercise) in refused and exercise not in own_handins and exercise not in by_hand
        }
        points = [
            _points(own_handins[exercise])
            if exercise in own_handins and exercise not in waits
            else None
            if exercise in own_handins
            else by_hand.get(exercise)
            for exercise in exercises
        ]
        total = None if waits else marking.total(exercises, points, list(max_points.values()), office.rule)
        late = [
            f"{exercise[:2]}: {number(handin.late_submission_penalty)} points lost"
            for exercise, handin in own_handins.items()
            if handin.late_submission_penalty
        ]
        notes = [f"{override.exercise[:2]}: {override.words}" for override in own_overrides] + [
            f"{exercise[:2]}: {reason}" for exercise, reason in waits.items()
        ]
        notes += [
            f"{exercise[:2]}: {remark}" for exercise in own_handins for remark in remarks.get((student, exercise), ())
        ]
        row = [cell(student), cell(name), *map(number, points), number(total), number(maximum)]
        yield [*row, cell("; ".join(late)), cell("; ".join(notes))]


def _points(submission: SubmittedAssignment) -> float:
    """The points that count, as in nbgrader's export: `score` is the value before the penalty."""
    return round(max(0.0, submission.score - (submission.late_submission_penalty or 0.0)), 6)


def _unfinished(submission: SubmittedAssignment) -> str:
    """Why a score is missing, so that the sum would be too low; "" where none is."""
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    if not any(grade.auto_score is None and grade.manual_score is None for grade in grades):
        return ""
    return BY_HAND if any(grade.auto_score is not None for grade in grades) else NOT_AUTOGRADED


def _facts(course: Path, assignment: str) -> dict[str, dict]:
    """The facts that `note` stored."""
    file = Store(course)
    try:
        return file.fact(f"recorded {assignment}", {})
    finally:
        file.close()


def _place(course: Path, assignment: str, student: str, digest: str) -> Path:
    """The folder in which an attempt is kept."""
    return course / FOLDER / assignment / student / (digest[:DIGITS] or "none")


def _keep(place: Path, handin: HandIn) -> None:
    """Keep a notebook and its time as they were handed in."""
    folder, _, name = handin.place.rpartition("/")
    place.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(NoSuchFile, BadSubmission):
        safe_files.write_whole(place / name, beneath.read(handin.place, safe_files.MAX_NOTEBOOK))
    with contextlib.suppress(NoSuchFile, BadSubmission):
        time = beneath.read(f"{folder}/{TIMESTAMP}", MAX_TIMESTAMP)
        if not (place / TIMESTAMP).exists():  # of equal hand-ins the first one
            safe_files.write_whole(place / TIMESTAMP, time)


def _everybody(app: AutogradeApp) -> list[str]:
    """The ids of all students of the gradebook, and of who handed in."""
    with Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        return sorted({student.id for student in gradebook.students} | autograding.folders(app).keys())


def _record_chosen(
    course: Path, app: AutogradeApp, office: Office, chosen: Chosen, students: Sequence[str], db_url: str | None
) -> Recorded:
    """Record these students' attempts that count, an earlier one from where it is kept."""
    assignment = app.coursedir.assignment_id
    results = {
        id: marking.override_result(mark.result, id, office.overrides)
        for id in students
        if (mark := chosen.marks[id]).result is not None
    }
    earlier = sorted(chosen.earlier & set(results))
    lay_attempts(course, assignment, chosen, earlier)
    kept = autograding.open_app(course, assignment, db_url)
    kept.coursedir.submitted_directory = f"{FOLDER}/{COUNTING}"
    use(kept, office.course)
    parts = [
        autograding.record(app, {id: result for id, result in results.items() if id not in earlier}),
        autograding.record(kept, {id: results[id] for id in earlier}),
    ]
    graded = tuple(id for part in parts for id in part.graded)
    note_attempts(course, assignment, chosen, (*graded, *sorted(chosen.marks.keys() - set(students))))
    notes = [f"{label(id)} {assignment}: {CHANGED}" for id, mark in chosen.marks.items() if CHANGED in mark.notes]
    return Recorded(graded, {**parts[0].failed, **parts[1].failed}, tuple(sorted(chosen.earlier)), tuple(notes))
