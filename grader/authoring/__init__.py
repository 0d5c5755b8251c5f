"""For authors: new exercises, stubs, tables, and the proof that the grader judges rightly."""
