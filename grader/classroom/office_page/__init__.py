"""The assistants' page: the results of a course in a browser on this machine, and what a person sets by hand."""
