"""The exercises with their limits, documented numbers and known mistakes, and the paths of all files."""

from grader.catalog.exercise import Exercise as Exercise
from grader.catalog.exercise import Forbidden as Forbidden
from grader.catalog.exercise import NoSuchExercise as NoSuchExercise
from grader.catalog.exercise import exercises as exercises
from grader.catalog.exercise import find as find
from grader.catalog.exercise import find_all as find_all
from grader.catalog.exercise import for_class as for_class
from grader.catalog.exercise import learning_paths as learning_paths
from grader.catalog.exercise import read as read
