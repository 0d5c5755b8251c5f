"""Moodle's files in other languages, files of spreadsheets, titles explained in course.toml, rules without effect."""

import csv
import io
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from made_up_class import result_of

from grader.catalog.errors import WrongUse
from grader.classroom import course_rules, marking
from grader.classroom.course_rules import LateRule
from grader.classroom.handins import Student
from grader.classroom.marking import lateness
from grader.classroom.office import lines_without_effect, read
from grader.classroom.roster import filling, moodle, reading
from grader.classroom.roster.sheet import Person
from grader.classroom.summary import Summary

CONTEXT = "03_context_vectors"
# Titles, the word before the number, "yes" and "no", and how 6 November 2026, 13:05 is written.
LANGUAGES = {
    "German": (
        ["ID", "Vollständiger Name", "ID-Nummer", "E-Mail-Adresse", "Status", "Bewertung", "Bestwertung",
         "Bewertung kann geändert werden", "Zuletzt geändert (Abgabe)", "Zuletzt geändert (Bewertung)", "Feedback"],
        "Teilnehmer/in", "Ja", "Nein", "Freitag, 6. November 2026, 13:05"),
    "Spanish": (
        ["Identificador", "Nombre completo", "Número de ID", "Dirección de correo", "Estado", "Calificación",
         "Calificación máxima", "La calificación puede ser cambiada", "Última modificación (entrega)",
         "Última modificación (calificación)", "Comentarios"],
        "Participante", "Sí", "No", "viernes, 6 de noviembre de 2026, 13:05"),
    "Greek": (
        ["Αναγνωριστικό", "Πλήρες όνομα", "Αριθμός", "Διεύθυνση", "Κατάσταση", "Βαθμός", "Μέγιστος Βαθμός",
         "Ο βαθμός μπορεί να αλλάξει", "Τελευταία τροποποιημένη (υποβολή)", "Τελευταία τροποποίηση (βαθμολόγηση)", "Σ"],
        "Συμμετέχων", "Ναι", "Όχι", "Παρασκευή, 6 Νοεμβρίου 2026, 13:05"),
    "Chinese": (
        ["标识符", "全名", "学号", "电子邮件地址", "状态", "成绩", "最高分", "允许更改成绩", "上次修改（作业）",
         "上次修改（评分）", "反馈"],
        "参与人", "是的", "no", "2026年11月6日 星期五 13:05"),
}  # fmt: skip


def worksheet(language: str) -> str:
    """A worksheet of three people, of whom one handed in and one has a locked grade."""
    titles, word, yes, no, time = LANGUAGES[language]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(titles)
    writer.writerow([f"{word}1001", "Ada Lovelace", "77", "ada@x.edu", "x", "7,00", "7,00", yes, time, "-", ""])
    writer.writerow([f"{word}1002", "Grace Hopper", "78", "grace@x.edu", "y", "", "7,00", no, "-", "-", ""])
    writer.writerow([f"{word}1003", "Emmy Noether", "79", "emmy@x.edu", "y", "", "7,00", yes, "-", "-", 'a\n"b"'])
    return "\ufeff" + text.getvalue()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_worksheet_in_another_language(tmp_path, language):
    (tmp_path / "03.csv").write_text(worksheet(language), "utf-8", newline="")
    roster = reading.read_roster(tmp_path / "03.csv")
    (listing,) = roster.listings
    assert (listing.kind, listing.is_guessed, len(listing.sheet.english)) == ("worksheet", True, 9)
    assert [(p.id, p.name, p.login, p.numbers) for p in roster.people] == [
        ("ada@x.edu", "Ada Lovelace", "77", ("1001",)), ("grace@x.edu", "Grace Hopper", "78", ("1002",)),
        ("emmy@x.edu", "Emmy Noether", "79", ("1003",)),
    ]  # fmt: skip
    assert moodle.handed_in(listing.sheet, 0, timezone.utc) == datetime(2026, 11, 6, 13, 5, tzinfo=timezone.utc)
    assert moodle.unread_times(listing.sheet) == []
    # It comes back with the points, the locked one as it was, and every other cell too.
    summary = Summary((CONTEXT,))
    for person in roster.people:
        summary.add(Student(person.id), [result_of(CONTEXT, 1)])
    filling.write(tmp_path / "upload", roster, {"03.csv": (CONTEXT,)}, summary)
    before, after = (
        list(csv.reader(io.StringIO(text, newline="")))
        for text in (worksheet(language), (tmp_path / "upload/03.csv").read_bytes().decode())
    )
    assert [row[5] for row in after[1:]] == ["7", "", "7"]
    assert [after[2]] == [before[2]] and after[0] == before[0]
    assert all(datetime.fromisoformat(after[row][9]) for row in (1, 3))
    for row in (1, 3):
        assert (
            after[row][:5] + after[row][6:9] + after[row][10:] == before[row][:5] + before[row][6:9] + before[row][10:]
        )


def test_a_grade_export_in_another_language(tmp_path):
    (tmp_path / "grades.csv").write_text(
        'Vorname,Nachname,ID-Nummer,Institution,E-Mail-Adresse,"Aufgabe: 03 Context vectors (Punkte)",'
        '"Kurs gesamt (Punkte)","Zuletzt geladen"\nAda,Lovelace,77,,ada@x.edu,-,"2,00",1764000000\n',
        "utf-8",
    )
    roster = reading.read_roster(tmp_path / "grades.csv")
    assert [(p.id, p.name) for p in roster.people] == [("ada@x.edu", "Ada Lovelace")]
    summary = Summary((CONTEXT,))
    summary.add(Student("ada@x.edu"), [result_of(CONTEXT, 1)])
    filling.write(tmp_path / "upload", roster, {}, summary)
    assert 'ada@x.edu,7,"2,00",1764000000' in (tmp_path / "upload/grades.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("Friday, 6 November 2026, 1:05 PM", True),
        ("vendredi 6 novembre 2026, 13:05", True),
        ("6 de novembro de 2026 às 13:05", True),
        ("пятница, 6 ноября 2026, 13:05", True),
        ("Cuma, 6 Kasım 2026, 1:05 PM", True),
        ("piątek, 6 listopada 2026, 13:05", False),  # November here, October in Croatian
        ("Παρασκευή, 6 Νοεμβρίου 2026, 1:05 μμ", False),  # before or after noon?
        ("06/11/2026 13:05", False),
        ("-", False),
    ],
)
def test_a_time_is_read_or_not_never_wrongly(text, there):
    wanted = datetime(2026, 11, 6, 13, 5, tzinfo=timezone.utc)
    assert moodle.parse_time(text, timezone.utc) == (wanted if there else None)


def test_days_of_the_week_are_no_months():
    for text in ("martes, 10 de marzo de 2026, 09:05", "martedì, 10 marzo 2026, 09:05", "mardi 10 mars 2026, 09:05"):
        assert moodle.parse_time(text, timezone.utc) == datetime(2026, 3, 10, 9, 5, tzinfo=timezone.utc)


def test_titles_that_are_not_understood_are_said_in_course_toml(tmp_path):
    (tmp_path / "list.csv").write_text("Matrikel;Wer;Uebung\n7;Ada;Mo\n", "utf-8")
    (tmp_path / "course.toml").write_text('roster = "list.csv"\n')
    with pytest.raises(WrongUse, match=r'\[titles\].*"Matrikel" = "id"'):
        read(tmp_path / "course.toml", None)
    (tmp_path / "course.toml").write_text(
        'roster = "list.csv"\n[titles]\nMatrikel = "id"\nWer = "name"\nUebung = "section"\nGruppe = "group"\n'
        '[columns]\n"Homework" = "03"\n[sections]\nMo = { deadlines = { "03" = 2026-11-01 } }\nTu = {}\n'
    )
    office = read(tmp_path / "course.toml", None)
    (person,) = office.people.values()
    assert (person.id, person.name, person.section) == ("7", "Ada", "Mo")
    about = replace(office, comments={("ADA", ""): "x"})
    assert lines_without_effect(about, ["7"], [CONTEXT])[0].endswith("no student ADA")
    told = lines_without_effect(office, ["7"], [CONTEXT])
    assert len(told) == 3 and ["Homework" in told[0], "Gruppe" in told[1], '"Tu"' in told[2]] == [True] * 3
    later = lines_without_effect(office, ["7"], [])
    assert later == told[1:], "the column of an exercise that nobody has handed in may be yet to come"


def test_another_key_of_a_student_is_no_id_and_the_id_is_told(tmp_path):
    (tmp_path / "roster.csv").write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
        '"Lovelace, Ada",41,S7,ada@x.edu,Mo\n"Student, Test",99,,,Mo\n"Student, Test",98,S9,test,Mo\n',
        "utf-8",
    )
    office = replace(read(None, tmp_path / "roster.csv"), comments={("ada@x.edu", ""): "x", ("S7", ""): "x"})
    assert list(office.people) == [
        "41",
        "98",
    ]  # a person may be called so; Canvas' test student has no login of its own
    assert all("Do you mean 41?" in line for line in lines_without_effect(office, list(office.people), []))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_what_a_spreadsheet_saves(tmp_path, encoding):
    text = 'id\tname\temail\r\n1\t"Lovelace, Ada"\ta@x.edu\r\n2\t"Grace\nHopper"\tg@x.edu\r\n'
    (tmp_path / "list.csv").write_bytes(text.encode(encoding))
    assert [person.email for person in reading.read_roster(tmp_path / "list.csv").people] == ["a@x.edu", "g@x.edu"]


def test_a_separator_within_a_title_is_none(tmp_path):
    (tmp_path / "list.csv").write_text('id,"a; b; c; d\n; e",name\n1,x,Ada\n', "utf-8")
    assert [person.name for person in reading.read_roster(tmp_path / "list.csv").people] == ["Ada"]


def test_sections_of_canvas(tmp_path):
    (tmp_path / "course.toml").write_text(
        '[sections]\n"CS1, Mo" = { deadlines = { "03" = 2026-11-01 } }\nLab = { deadlines = { "03" = 2026-11-08 } }\n'
    )
    course = course_rules.read_rules(tmp_path / "course.toml")
    assert course.sections_of(Person("1", section="CS1, Mo", group="Lab").sections) == ("CS1, Mo", "Lab")
    assert course.sections_of(Person("1", group="Lab").sections) == ("Lab",)
    assert course.sections_of("CS1, Mo") == ("CS1, Mo",)
    assert course.sections_of("A, CS1, Mo, and Lab") == ("CS1, Mo", "Lab")
    assert course.sections_of("Lab 2 and CS1, Moon") == ()
    assert course.deadline("s", "CS1, Mo and Lab", CONTEXT).day == 8  # of several the latest


def test_rules_that_contradict_each_other_are_told(tmp_path):
    path = tmp_path / "course.toml"
    for text in ('[deadlines]\n"03" = 2026-11-01\n"3" = 2026-11-02\n', '[weights]\n"03" = 1\ncontext_vectors = 2\n'):
        path.write_text(text)
        with pytest.raises(WrongUse, match="twice"):
            course_rules.read_rules(path)
    head = "student,exercise,check,points\n"
    check = next(iter(result_of(CONTEXT).checks)).id
    for line in ("a,03,,6", f"a,03,{check},0"):
        (tmp_path / "overrides.csv").write_text(f"{head}a,03,,5\n{line}\n")
        with pytest.raises(WrongUse, match=r"line 3: line 2 sets 03_context_vectors of a too"):
            marking.read_overrides(tmp_path / "overrides.csv")
    (tmp_path / "overrides.csv").write_text(f"{head}a,03,,5\nb,03,,6\na,02,,1\n")
    assert len(marking.read_overrides(tmp_path / "overrides.csv")) == 3


def test_an_hour_is_an_hour_also_where_the_clock_is_changed():
    """In Berlin the clock goes from 3:00 back to 2:00 on 25 October 2026."""
    berlin = ZoneInfo("Europe/Berlin")
    deadline, handed_in = datetime(2026, 10, 25, 1, tzinfo=berlin), datetime(2026, 10, 25, 4, tzinfo=berlin)
    assert lateness(LateRule("hour", 10), handed_in, False, deadline).units == 4
    first, second = (datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=fold) for fold in (0, 1))
    assert lateness(LateRule("hour", 10), second, False, None, first).after_end


def test_a_date_alone_lasts_until_midnight(tmp_path):
    path: Path = tmp_path / "course.toml"
    path.write_text('[deadlines]\n"03" = 2026-11-01\n')
    deadline = course_rules.read_rules(path).deadline("s", "", CONTEXT)
    last = datetime(2026, 11, 1, 23, 59, 59, 948000, tzinfo=timezone.utc)
    assert lateness(LateRule("day", 10), last, False, deadline).units == 0
    assert lateness(LateRule("day", 10), datetime(2026, 11, 2, tzinfo=timezone.utc), False, deadline).units == 1
