"""The grader's side of the sandbox: starts the fork server, sends requests to workers, and tests the sandbox."""
