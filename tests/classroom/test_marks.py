"""The lines of marks.csv, which nobody may lack: who gets one, and in which order they come."""

from grader.classroom import marks
from grader.classroom.marks import GRADED, LEFT_OUT, NOTHING, PERSON, Found, HandIn, Mark, Student

ADA, BEN, CYD = Student("1", "Ada"), Student("2", "Ben"), Student("3", "Cyd")


def test_whoever_handed_in_or_is_enrolled_or_is_misplaced_has_a_row():
    misplaced, junk = Mark(PERSON, BEN, "", "ben.zip"), Mark(LEFT_OUT, Student("4", "Dan"), "", "notes.txt")
    handins = (HandIn(ADA, "01_dot_product_scores", "ada.py"),)
    assert Found("folders", handins, (misplaced, junk)).students == (ADA, BEN)
    assert Found("folders", handins, (misplaced, junk), enrolled=(CYD,)).students == (ADA, BEN, CYD)


def test_what_a_student_lacks_has_a_row_unless_a_file_that_needs_a_person_may_be_it():
    exercises = "01_dot_product_scores", "03_context_vectors"
    known = [Mark(GRADED, ADA, exercises[0], points=5.0), Mark(PERSON, BEN, "", "ben.zip"), Mark(LEFT_OUT, CYD)]
    rows = list(marks.nothing_handed_in([ADA, BEN, CYD], exercises, known))
    assert rows == [Mark(NOTHING, who, one) for who, one in ((ADA, exercises[1]), *((CYD, one) for one in exercises))]


def test_what_needs_a_person_comes_first_and_what_was_left_out_last():
    first, second, third = Mark(PERSON, CYD), Mark(GRADED, BEN, "01"), Mark(LEFT_OUT, ADA)
    assert marks.in_order([third, second, first]) == [first, second, third]
