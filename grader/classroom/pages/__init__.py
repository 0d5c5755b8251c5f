"""The pages of a class: the teacher's page and each student's feedback."""
