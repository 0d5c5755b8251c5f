"""The walls around a worker: what a fork of the fork server puts on before it runs a learner's code."""
