"""A companion at the desk: watch, hints, the fresh stub, the solution. For one learner, without a network."""
