"""What a class is shown: the teacher's page and each student's feedback."""
