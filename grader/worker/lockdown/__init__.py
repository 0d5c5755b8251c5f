"""The layers of the sandbox that a fork of the fork server applies to itself before it runs a learner's code."""
