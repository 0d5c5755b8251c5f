"""The output forms of a result: each is a pure function of plain data."""
