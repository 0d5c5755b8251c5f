"""The walls around a worker: what a fork of the nursery puts on before it runs a learner's code."""
