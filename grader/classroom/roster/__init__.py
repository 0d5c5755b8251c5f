"""The roster: who is in the class, read from the file of a platform, and the same file filled in with the points."""
