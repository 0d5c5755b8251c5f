"""Statistics of a class: pure functions over a summary, one subject a module."""
