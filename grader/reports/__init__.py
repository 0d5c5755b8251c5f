"""The output forms of a result. Each is a pure function of plain data."""
