"""nbgrader: makes a course, grades in nbgrader's place of the kernel, and records a class in its gradebook."""
