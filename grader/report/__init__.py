"""The faces of a result: each output form is one pure function of plain data."""
