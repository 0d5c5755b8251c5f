"""The judge. `grader.authors` is what the authors of checks import; see CONTRIBUTING.md."""
